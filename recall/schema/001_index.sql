-- The recall index (M-05, M-06): a cache of the memory files, rebuilt from them at will.

CREATE TABLE meta (
  key TEXT PRIMARY KEY,
  value TEXT NOT NULL
) WITHOUT ROWID;

CREATE TABLE root (
  id INTEGER PRIMARY KEY,
  path TEXT NOT NULL UNIQUE,          -- real path of the root: a folder, or one file
  folder TEXT NOT NULL,               -- what the relative paths of its files start from
  scope_kind TEXT NOT NULL,
  scope_key TEXT NOT NULL,
  origin TEXT NOT NULL,
  missing INTEGER NOT NULL DEFAULT 0, -- 1: the folder was not there when last looked for; its records are kept
  provider TEXT NOT NULL DEFAULT '',  -- the agent product whose own files these are
  top TEXT NOT NULL DEFAULT '',       -- what its paths start from where ids are made of them: see FileHome
  taken INTEGER NOT NULL DEFAULT 0    -- 1: every file of it was taken in once; until then answers are partial
);

CREATE TABLE file (
  id INTEGER PRIMARY KEY,
  root INTEGER NOT NULL REFERENCES root (id),
  relative TEXT NOT NULL,
  digest TEXT NOT NULL,
  version INTEGER NOT NULL,           -- +1 whenever the digest changes; kept when the file goes, should it come back
  stamp TEXT NOT NULL,                -- size, times, inode: a hint that lets a scan skip reading
  refused TEXT,                       -- why nothing of it is used
  present INTEGER NOT NULL,
  UNIQUE (root, relative)
);

CREATE TABLE finding (
  file INTEGER NOT NULL REFERENCES file (id),
  state TEXT NOT NULL,
  line INTEGER NOT NULL,
  memory_id TEXT,
  problem TEXT NOT NULL
);
CREATE INDEX finding_by_file ON finding (file);
CREATE INDEX finding_by_memory ON finding (memory_id) WHERE memory_id IS NOT NULL;

CREATE TABLE scope (
  id INTEGER PRIMARY KEY,
  kind TEXT NOT NULL,
  key TEXT NOT NULL,
  records INTEGER NOT NULL DEFAULT 0, -- searchable records, and the sum of their lengths in terms
  length INTEGER NOT NULL DEFAULT 0,
  UNIQUE (kind, key)
);

CREATE TABLE record (
  id INTEGER PRIMARY KEY AUTOINCREMENT, -- never used again: vectors are kept by it
  memory_id TEXT NOT NULL,
  file INTEGER NOT NULL REFERENCES file (id),
  scope INTEGER NOT NULL REFERENCES scope (id),
  digest TEXT NOT NULL,
  mark TEXT NOT NULL,                 -- changes with anything of the record, attributes included
  legacy INTEGER NOT NULL,            -- its id was derived from its place, nobody gave it
  standing TEXT NOT NULL,             -- live | copy (the same in another root) | conflict (the same id, something else)
  eligible INTEGER NOT NULL,          -- active and without a flag that keeps it out; time is the reader's question
  searchable INTEGER NOT NULL,        -- live and eligible: in `posting` and `df`
  pinned INTEGER NOT NULL,
  priority INTEGER,
  created INTEGER NOT NULL,
  valid_from INTEGER,
  expires INTEGER,
  line_start INTEGER NOT NULL,
  line_end INTEGER NOT NULL,
  byte_start INTEGER NOT NULL,
  byte_end INTEGER NOT NULL,
  length INTEGER NOT NULL,            -- terms, with repeats
  terms TEXT NOT NULL,                -- the distinct terms, one a line, the most frequent first
  counts BLOB NOT NULL,               -- of those that occur more than once: how often, one byte a term
  body BLOB NOT NULL                  -- the MemoryRecord, as MessagePack
);
CREATE INDEX record_by_memory ON record (memory_id);
CREATE INDEX record_by_file ON record (file);
CREATE INDEX record_by_age ON record (scope, created DESC, memory_id);
CREATE INDEX record_conflict ON record (id) WHERE standing = 'conflict';
CREATE INDEX record_hot ON record (pinned DESC, created DESC, memory_id) WHERE searchable = 1;
CREATE INDEX record_aside ON record (scope, created DESC) WHERE searchable = 0;
CREATE INDEX record_timed ON record (scope) WHERE searchable = 1 AND (valid_from IS NOT NULL OR expires IS NOT NULL);

-- What became searchable (1) and what stopped being so (0), for whoever follows the index; the newest rows alone are kept.
CREATE TABLE listing (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  record INTEGER NOT NULL,
  listed INTEGER NOT NULL
);

CREATE TABLE df (
  scope INTEGER NOT NULL,
  term TEXT NOT NULL,
  records INTEGER NOT NULL,
  PRIMARY KEY (scope, term)
) WITHOUT ROWID;

-- Posting lists by `scope~term`: a scope is part of the token, so no other scope's records are read, counted or weighed.
-- Only row ids are asked of it; scores come from `df` and `record`. The analyzer's terms are letters, digits and
-- these characters, so a token is one token.
CREATE VIRTUAL TABLE posting USING fts5(
  tokens, content = '', detail = none, columnsize = 0, tokenize = "ascii tokenchars '_-./:+#~'"
);
