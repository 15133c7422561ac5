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
