-- What the second step of the main database was when it was released (schema 2): a copy, never changed.
-- What a person said about memories and what is not in their files: muted since when, and how often it was said.
CREATE TABLE mark (
    memory_id TEXT PRIMARY KEY,
    muted_at  INTEGER,                     -- NULL: not muted
    sightings INTEGER NOT NULL DEFAULT 1,  -- how often it was said, the first time included
    seen_at   INTEGER                      -- when it was said last; NULL: only once
) WITHOUT ROWID;
CREATE INDEX mark_muted ON mark (memory_id) WHERE muted_at IS NOT NULL;
