-- Step 3 of governance.db, as it was released.
-- Formation (formation.md): what was done once, what waits to be done, and the life of what was formed. Texts of live
-- records stand in the memory files; quotes and the words of what waits stand here and in the queue.

-- Each operation once: the same id and hash give the stored outcome, the same id with another hash is a conflict.
CREATE TABLE receipt (
    operation_id TEXT PRIMARY KEY,
    request_hash TEXT NOT NULL,
    pipeline TEXT NOT NULL,
    session_id TEXT,
    from_seq INTEGER,
    through_seq INTEGER,
    status TEXT NOT NULL,
    outcome TEXT NOT NULL,
    item_ids TEXT NOT NULL,
    committed_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX receipt_session ON receipt (session_id, through_seq) WHERE session_id IS NOT NULL;

CREATE TABLE receipt_conflict (
    operation_id TEXT NOT NULL,
    request_hash TEXT NOT NULL,
    at INTEGER NOT NULL,
    PRIMARY KEY (operation_id, request_hash)
) STRICT, WITHOUT ROWID;

-- What the daemon is to do. `owner`: the run of the daemon that works at it. `waits`: how often a provider was away.
CREATE TABLE job (
    job_id TEXT PRIMARY KEY,
    pipeline TEXT NOT NULL,
    session_id TEXT NOT NULL,
    trigger TEXT NOT NULL,
    boundary_seq INTEGER NOT NULL,
    workspace_key TEXT NOT NULL,
    state TEXT NOT NULL,
    starts INTEGER NOT NULL,
    waits INTEGER NOT NULL DEFAULT 0,
    owner TEXT NOT NULL,
    reason TEXT NOT NULL,
    not_before INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    changed_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX job_state ON job (state, not_before);
CREATE INDEX job_session ON job (session_id, pipeline);

-- Up to where a session's events were formed (-1: none were); compared and set. `pipeline`: checkpoint or batch.
CREATE TABLE cursor (
    pipeline TEXT NOT NULL,
    session_id TEXT NOT NULL,
    processed_seq INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    PRIMARY KEY (pipeline, session_id)
) STRICT, WITHOUT ROWID;

-- A range that failed once, and is to be tried again just so.
CREATE TABLE failure (
    pipeline TEXT NOT NULL,
    session_id TEXT NOT NULL,
    from_seq INTEGER NOT NULL,
    through_seq INTEGER NOT NULL,
    coverage_hash TEXT NOT NULL,
    operation_id TEXT NOT NULL,
    projection TEXT NOT NULL,
    attempts INTEGER NOT NULL,
    class TEXT NOT NULL,
    done_refs TEXT NOT NULL,
    failed_at INTEGER NOT NULL,
    PRIMARY KEY (pipeline, session_id)
) STRICT, WITHOUT ROWID;

-- A fact that was seen, but not in enough conversations yet.
CREATE TABLE gap (
    gap_id TEXT PRIMARY KEY,
    workspace_key TEXT NOT NULL,
    content TEXT NOT NULL,
    state TEXT NOT NULL,
    covered_by TEXT,
    item_id TEXT,
    opened_at INTEGER NOT NULL,
    changed_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX gap_open ON gap (workspace_key, state, opened_at);

CREATE TABLE sighting (
    gap_id TEXT NOT NULL,
    conversation_key TEXT NOT NULL,
    refs TEXT NOT NULL,
    at INTEGER NOT NULL,
    PRIMARY KEY (gap_id, conversation_key)
) STRICT, WITHOUT ROWID;

-- Spans that the user denied: never read, and crossed by nothing.
CREATE TABLE barrier (
    session_id TEXT NOT NULL,
    from_seq INTEGER NOT NULL,
    through_seq INTEGER NOT NULL,
    at INTEGER NOT NULL,
    PRIMARY KEY (session_id, from_seq)
) STRICT, WITHOUT ROWID;

CREATE TABLE dead_letter (
    letter_id TEXT PRIMARY KEY,
    pipeline TEXT NOT NULL,
    session_id TEXT NOT NULL,
    workspace_key TEXT NOT NULL,
    from_seq INTEGER NOT NULL,
    through_seq INTEGER NOT NULL,
    class TEXT NOT NULL,
    refs TEXT NOT NULL,
    attempts INTEGER NOT NULL,
    operation_id TEXT NOT NULL,
    state TEXT NOT NULL,
    at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Evidence notes. The queue holds the item of the same id; here is what the note says and on what it rests.
CREATE TABLE note (
    note_id TEXT PRIMARY KEY,
    window_id TEXT NOT NULL,
    scope_key TEXT NOT NULL,
    stream_id TEXT NOT NULL,
    evidence_digest TEXT NOT NULL,
    version INTEGER NOT NULL,
    digest TEXT NOT NULL,
    note TEXT NOT NULL,
    saved_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX note_of_stream ON note (scope_key, stream_id);

-- A window and all its sources by id, place and hash: never their texts.
CREATE TABLE note_window (
    window_id TEXT PRIMARY KEY,
    scope_key TEXT NOT NULL,
    stream_id TEXT NOT NULL,
    evidence_digest TEXT NOT NULL,
    descriptor TEXT NOT NULL,
    provenance TEXT NOT NULL,
    rejected TEXT NOT NULL,
    saved_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- How far a conversation was noted: up to which message, and where that stood. `last_id`: of the last one that was taken.
CREATE TABLE note_stream (
    scope_key TEXT NOT NULL,
    stream_id TEXT NOT NULL,
    next_index INTEGER NOT NULL,
    last_id TEXT NOT NULL DEFAULT '',
    continuation TEXT,
    updated_at INTEGER NOT NULL,
    PRIMARY KEY (scope_key, stream_id)
) STRICT, WITHOUT ROWID;

-- The life of records that were formed, whichever pipeline formed them. `claim`: the digest of the words as `same`
-- compares them. `state`: live, superseded, archived or forgotten.
CREATE TABLE memory (
    memory_id TEXT PRIMARY KEY,
    version INTEGER NOT NULL,
    pipeline TEXT NOT NULL,
    type TEXT NOT NULL,
    state TEXT NOT NULL,
    superseded_by TEXT,
    claim TEXT NOT NULL,
    priority INTEGER NOT NULL,
    importance INTEGER NOT NULL,
    scene_name TEXT NOT NULL,
    session_id TEXT NOT NULL,
    task_id TEXT NOT NULL,
    team TEXT NOT NULL,
    user TEXT NOT NULL,
    agent TEXT NOT NULL,
    occurred_at INTEGER,
    activity_start INTEGER,
    activity_end INTEGER,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    metadata TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX memory_claim ON memory (team, user, agent, claim);

-- What a record rests on: messages, and quotes where there are any.
CREATE TABLE memory_source (
    memory_id TEXT NOT NULL,
    session_id TEXT NOT NULL,
    message_id TEXT NOT NULL,
    place INTEGER NOT NULL,
    quote TEXT NOT NULL,
    event_seq INTEGER NOT NULL,
    role TEXT NOT NULL,
    at INTEGER NOT NULL,
    PRIMARY KEY (memory_id, session_id, message_id, place)
) STRICT, WITHOUT ROWID;

-- An id that was drawn once for the nth item of an operation: a repetition finds it.
CREATE TABLE drawn (
    operation_id TEXT NOT NULL,
    place INTEGER NOT NULL,
    item_id TEXT NOT NULL,
    PRIMARY KEY (operation_id, place)
) STRICT, WITHOUT ROWID;

CREATE TABLE generation (
    generation_id TEXT PRIMARY KEY,
    schema_version INTEGER NOT NULL,
    layer TEXT NOT NULL,
    status TEXT NOT NULL,
    isolation TEXT NOT NULL,
    prompt TEXT NOT NULL,
    input_refs TEXT NOT NULL,
    output_refs TEXT NOT NULL,
    model_id TEXT NOT NULL,
    mode TEXT NOT NULL,
    calls INTEGER NOT NULL,
    usage TEXT,
    decisions TEXT NOT NULL,
    started_at INTEGER NOT NULL,
    finished_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE generation_ref (
    generation_ref_id TEXT PRIMARY KEY,
    layer TEXT NOT NULL,
    memory_id TEXT NOT NULL,
    generation_id TEXT NOT NULL,
    UNIQUE (layer, memory_id)
) STRICT, WITHOUT ROWID;

-- Committed, and still to be written to the files. `line`: what the JSONL gets, canonical JSON; emptied once done.
CREATE TABLE outbox (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    memory_id TEXT NOT NULL,
    version INTEGER NOT NULL,
    kind TEXT NOT NULL,
    line TEXT NOT NULL,
    file TEXT NOT NULL DEFAULT '',
    at INTEGER NOT NULL,
    done_at INTEGER
) STRICT;

CREATE INDEX outbox_waiting ON outbox (number) WHERE done_at IS NULL;

-- Scenes, persona, doctrine and skills: what stands in the files, and what a waiting item would make of it.
CREATE TABLE document (
    workspace_key TEXT NOT NULL,
    document_id TEXT NOT NULL,
    kind TEXT NOT NULL,
    name TEXT NOT NULL,
    version INTEGER NOT NULL,
    digest TEXT NOT NULL,
    state TEXT NOT NULL,
    meta TEXT NOT NULL,
    evidence TEXT NOT NULL,
    file TEXT NOT NULL,
    item_id TEXT NOT NULL,
    scene_versions TEXT NOT NULL,
    updated_at INTEGER NOT NULL,
    PRIMARY KEY (workspace_key, document_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE document_change (
    item_id TEXT PRIMARY KEY,
    workspace_key TEXT NOT NULL,
    run_id TEXT NOT NULL,
    layer TEXT NOT NULL,
    changes TEXT NOT NULL,
    read_set TEXT NOT NULL,
    scene_versions TEXT NOT NULL,
    state TEXT NOT NULL,
    journal TEXT,
    at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX document_change_state ON document_change (state);

CREATE INDEX document_change_run ON document_change (workspace_key, run_id);

-- Tasks that the running agent was handed: what they bind to, never the material.
CREATE TABLE agent_task (
    task_id TEXT PRIMARY KEY,
    kind TEXT NOT NULL,
    workspace_key TEXT NOT NULL,
    session_id TEXT NOT NULL,
    from_seq INTEGER NOT NULL,
    through_seq INTEGER NOT NULL,
    binding TEXT NOT NULL,
    state TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    changed_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- What was said no to once, by what it rested on too; and the words themselves, so that likeness can be told. A
-- forgotten one keeps no words.
ALTER TABLE tombstone ADD COLUMN workspace_key TEXT NOT NULL DEFAULT '';
ALTER TABLE tombstone ADD COLUMN why TEXT NOT NULL DEFAULT 'archived';
ALTER TABLE tombstone ADD COLUMN words TEXT NOT NULL DEFAULT '';
ALTER TABLE tombstone ADD COLUMN citations TEXT NOT NULL DEFAULT '[]';

CREATE INDEX tombstone_words ON tombstone (workspace_key, at) WHERE words != '';

CREATE INDEX tombstone_forgotten ON tombstone (workspace_key) WHERE why = 'forgotten';

-- Holds all that the review asks by, so that a page of many thousands is found without reading their rows.
CREATE INDEX queue_waiting ON queue (workspace_key, state, created_at, kind, pipeline, flags);
