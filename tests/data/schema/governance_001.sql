-- Step 1 of governance.db, as it was released.
-- The review queue (formation.md 7.2): proposals, the decisions about them, and what was said no to once.
-- Of a proposal about a memory the text stands in the memory file; `title` and `text` are of those that have none yet.
CREATE TABLE queue (
    item_id TEXT PRIMARY KEY,
    kind TEXT NOT NULL,
    pipeline TEXT NOT NULL,
    workspace_key TEXT NOT NULL,
    conversation_key TEXT,
    state TEXT NOT NULL,
    revision INTEGER NOT NULL,
    title TEXT NOT NULL,
    text TEXT NOT NULL,
    citations TEXT NOT NULL,
    flags TEXT NOT NULL,
    proposed_by TEXT NOT NULL,
    updates TEXT,
    related_to TEXT NOT NULL,
    record_id TEXT,
    target TEXT NOT NULL,
    evidence TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    changed_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX queue_state ON queue (state, changed_at);

CREATE INDEX queue_record ON queue (record_id) WHERE record_id IS NOT NULL;

-- Append-only: one row a decision; `revision` is that of the item which it was made to.
CREATE TABLE decision (
    item_id TEXT NOT NULL,
    revision INTEGER NOT NULL,
    kind TEXT NOT NULL,
    actor TEXT NOT NULL,
    reason TEXT NOT NULL,
    at INTEGER NOT NULL,
    PRIMARY KEY (item_id, revision)
) STRICT, WITHOUT ROWID;

-- What was archived, discarded or forgotten: the keyed digest of its words, so that it is not proposed again.
CREATE TABLE tombstone (
    digest TEXT PRIMARY KEY,
    item_id TEXT,
    at INTEGER NOT NULL,
    seen_count INTEGER NOT NULL DEFAULT 0,
    seen_at INTEGER
) STRICT, WITHOUT ROWID;

-- M-04: the life of a procedure, by memory id; the text is in the memory file. A procedure that is not here is as its
-- origin says: a person's is active, any other is observed.
CREATE TABLE procedure (
    memory_id TEXT PRIMARY KEY,
    stage TEXT NOT NULL,
    since INTEGER NOT NULL,
    reason TEXT NOT NULL
) STRICT, WITHOUT ROWID;
