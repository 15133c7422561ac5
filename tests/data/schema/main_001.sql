-- The main database as version 0.1.0 made it (schema 1): a copy, never changed. Step 1 must stay this.
-- N-01: the append-only event log. Nothing here is ever updated but the heads of `log_session`.
CREATE TABLE log_session (
    id         INTEGER PRIMARY KEY,
    session_id TEXT NOT NULL UNIQUE,
    event_seq  INTEGER NOT NULL,           -- the last one given out: seqs are 1, 2, 3 … without a gap
    workspace  TEXT NOT NULL,              -- as the producer of the last event saw it
    first_at   INTEGER NOT NULL,           -- the daemon's clock, epoch ms
    last_at    INTEGER NOT NULL
);
CREATE INDEX log_session_age ON log_session (last_at);
CREATE TABLE log_agent (
    session   INTEGER NOT NULL REFERENCES log_session (id),
    agent_id  TEXT NOT NULL,
    event_seq INTEGER NOT NULL,            -- of the agent's first event
    PRIMARY KEY (session, agent_id)
) WITHOUT ROWID;
CREATE TABLE event (
    id             INTEGER PRIMARY KEY,
    session        INTEGER NOT NULL REFERENCES log_session (id),
    event_seq      INTEGER NOT NULL,
    agent_id       TEXT NOT NULL,
    workspace      TEXT NOT NULL,
    channel        TEXT NOT NULL,
    event_type     TEXT NOT NULL,
    timestamp      INTEGER NOT NULL,       -- the producer's clock, epoch ms
    observed_at    INTEGER NOT NULL,       -- the daemon's clock, epoch ms
    source_kind    TEXT NOT NULL,
    event_id       TEXT,
    native_seq     INTEGER,
    turn           INTEGER,
    step           INTEGER,
    message_id     TEXT,
    call_id        TEXT,
    root_call_id   TEXT,
    payload_digest TEXT NOT NULL,          -- keyed, over the payload's bytes as received
    payload        BLOB NOT NULL           -- JSON: bounded, without secrets
);
CREATE UNIQUE INDEX event_order ON event (session, event_seq);
-- A producer's own key for an event, for good: the same key never makes a second event.
CREATE UNIQUE INDEX event_by_id ON event (session, event_id) WHERE event_id IS NOT NULL;
CREATE UNIQUE INDEX event_by_native ON event (session, native_seq) WHERE native_seq IS NOT NULL;

-- G-02: the injection audit. One row an entry, chained by digest; never updated, never deleted one by one.
-- `entry` is the canonical JSON whose SHA-256 is `digest`; the other columns repeat parts of it for queries.
-- AUTOINCREMENT remembers the highest row, so that rows cut off at the end are missed as well.
CREATE TABLE audit (
    row INTEGER PRIMARY KEY AUTOINCREMENT,
    audit_id TEXT NOT NULL UNIQUE,
    at INTEGER NOT NULL,
    session_ref TEXT NOT NULL,
    kind TEXT NOT NULL,
    outcome TEXT NOT NULL,
    reason TEXT NOT NULL,
    step INTEGER,
    packet_id TEXT,
    digest TEXT NOT NULL,
    entry BLOB NOT NULL
) STRICT;

CREATE INDEX audit_session ON audit (session_ref, row);

CREATE INDEX audit_packet ON audit (packet_id, row) WHERE packet_id IS NOT NULL;

CREATE INDEX audit_feedback ON audit (row) WHERE kind = 'feedback';

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

-- N-03: packets and their one-slot inbox. The rendered text lives here, never in the audit.
CREATE TABLE packet (
    packet_id       TEXT PRIMARY KEY,
    session_id      TEXT NOT NULL,
    agent_id        TEXT NOT NULL,
    state           TEXT NOT NULL CHECK (state IN ('pending', 'claimed', 'delivered', 'dropped', 'expired', 'replaced')),
    claim_id        TEXT,
    claimed_at      INTEGER,
    surface         TEXT,
    context_version INTEGER NOT NULL,
    created_at      INTEGER NOT NULL,
    settled_at      INTEGER,
    body            BLOB NOT NULL
) WITHOUT ROWID;
-- One slot: at most one pending packet a (session, agent).
CREATE UNIQUE INDEX packet_slot ON packet (session_id, agent_id) WHERE state = 'pending';
CREATE INDEX packet_session ON packet (session_id, agent_id);
CREATE TABLE packet_item (
    memory_id TEXT NOT NULL,
    packet_id TEXT NOT NULL REFERENCES packet (packet_id) ON DELETE CASCADE,
    PRIMARY KEY (memory_id, packet_id)
) WITHOUT ROWID;
-- The same request id gets the same answer, also after a restart.
CREATE TABLE claim_answer (
    session_id TEXT NOT NULL,
    agent_id   TEXT NOT NULL,
    request_id TEXT NOT NULL,
    at         INTEGER NOT NULL,
    packet_id  TEXT,
    claim_id   TEXT,
    reason     TEXT,
    PRIMARY KEY (session_id, agent_id, request_id)
) WITHOUT ROWID;
CREATE INDEX claim_answer_age ON claim_answer (at);
CREATE TABLE setting (
    name  TEXT PRIMARY KEY,
    value BLOB NOT NULL
) WITHOUT ROWID;
