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
