-- G-01: the access-evidence graph. Append-only; the id is made of what happened, so a replay adds nothing.
CREATE TABLE evidence (
    evidence_id TEXT PRIMARY KEY,
    kind TEXT NOT NULL,
    memory_id TEXT NOT NULL,
    session_ref TEXT NOT NULL,
    event_seq INTEGER NOT NULL,
    context_version INTEGER NOT NULL,
    source_version INTEGER NOT NULL,
    record_digest TEXT NOT NULL,
    at INTEGER NOT NULL,
    call_id TEXT,
    coverage INTEGER
) STRICT, WITHOUT ROWID;

CREATE INDEX evidence_memory ON evidence (memory_id, at);

CREATE INDEX evidence_session ON evidence (session_ref, event_seq);
