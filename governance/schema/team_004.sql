-- Team workflow (team.md): what was read, proposed, said yes to and written. Raw pointers and provider ids stay here.

-- A worktree as it was bound. The secret that names are keyed with is the first row of team_secret.
CREATE TABLE team_secret (
    name TEXT PRIMARY KEY,
    value BLOB NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE team_binding (
    worktree_key TEXT PRIMARY KEY,
    repository_key TEXT NOT NULL,
    root_digest TEXT NOT NULL,
    workspace_key TEXT NOT NULL,
    root TEXT NOT NULL,
    document TEXT NOT NULL,
    bound_at INTEGER NOT NULL,
    seen_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX team_binding_repository ON team_binding (repository_key);

-- Whether the user trusts what a repository's memory says. No row: nobody was asked.
CREATE TABLE team_trust (
    repository_key TEXT PRIMARY KEY,
    trusted INTEGER NOT NULL,
    via TEXT NOT NULL,
    at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- What we wrote ourselves after a person's yes: such a file, byte for byte, is reviewed whatever is trusted.
CREATE TABLE team_receipt (
    repository_key TEXT NOT NULL,
    memory_id TEXT NOT NULL,
    digest TEXT NOT NULL,
    plan_id TEXT NOT NULL,
    at INTEGER NOT NULL,
    PRIMARY KEY (repository_key, memory_id, digest)
) STRICT, WITHOUT ROWID;

CREATE INDEX team_receipt_digest ON team_receipt (digest);

-- A turn as it was last seen: `revision` counts the payloads; `turn`: what a selection asks of it, as JSON. `terms`: of
-- its text, as the analyzer of that name makes them; made when somebody first asks.
CREATE TABLE team_turn (
    turn_key TEXT PRIMARY KEY,
    session_key TEXT NOT NULL,
    place INTEGER NOT NULL,
    revision INTEGER NOT NULL,
    payload_digest TEXT NOT NULL,
    turn TEXT NOT NULL,
    terms TEXT NOT NULL DEFAULT '',
    analyzer TEXT NOT NULL DEFAULT '',
    seen_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX team_turn_session ON team_turn (session_key, place);

-- A session that was cut into turns. `extent`: what the log held of it then; `facts`: what else is known, as JSON.
CREATE TABLE team_session (
    session_key TEXT PRIMARY KEY,
    session_id TEXT NOT NULL,
    extent TEXT NOT NULL,
    facts TEXT NOT NULL,
    seen_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- `kind`: recall, share, adjudication or consolidation. `document`: the task as it was handed out, without its lease.
CREATE TABLE team_task (
    task_id TEXT PRIMARY KEY,
    kind TEXT NOT NULL,
    repository_key TEXT NOT NULL,
    worktree_key TEXT NOT NULL,
    state TEXT NOT NULL,
    epoch INTEGER NOT NULL DEFAULT 0,
    token TEXT NOT NULL DEFAULT '',
    holder TEXT NOT NULL DEFAULT '',
    lease_until INTEGER NOT NULL DEFAULT 0,
    source_digest TEXT NOT NULL,
    parent TEXT NOT NULL DEFAULT '',
    session_key TEXT NOT NULL DEFAULT '',
    document TEXT NOT NULL,
    reason TEXT NOT NULL DEFAULT '',
    created_at INTEGER NOT NULL,
    changed_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX team_task_owner ON team_task (worktree_key, kind, state);

-- The chunk of a recall task, and the turns in it: a turn in an extracted chunk at its revision is not offered again.
CREATE TABLE team_chunk (
    task_id TEXT PRIMARY KEY,
    worktree_key TEXT NOT NULL,
    state TEXT NOT NULL,
    changed_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE team_chunk_turn (
    task_id TEXT NOT NULL,
    place INTEGER NOT NULL,
    turn_key TEXT NOT NULL,
    revision INTEGER NOT NULL,
    payload_digest TEXT NOT NULL,
    PRIMARY KEY (task_id, place)
) STRICT, WITHOUT ROWID;

CREATE INDEX team_chunk_turn_key ON team_chunk_turn (turn_key, revision);

-- The evidence catalogue of a task. `pointer`: canonical JSON of what it points at, private.
CREATE TABLE team_evidence (
    task_id TEXT NOT NULL,
    evidence_id TEXT NOT NULL,
    kind TEXT NOT NULL,
    pointer_digest TEXT NOT NULL,
    display TEXT NOT NULL,
    pointer TEXT NOT NULL,
    strength TEXT NOT NULL,
    limitations TEXT NOT NULL,
    turn_key TEXT NOT NULL DEFAULT '',
    turn_revision INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (task_id, evidence_id)
) STRICT, WITHOUT ROWID;

-- A stage record. `stage`: draft, adjudication, skill, consolidation or share.
CREATE TABLE team_submission (
    task_id TEXT NOT NULL,
    stage TEXT NOT NULL,
    document_digest TEXT NOT NULL,
    state TEXT NOT NULL,
    outcome TEXT NOT NULL,
    at INTEGER NOT NULL,
    changed_at INTEGER NOT NULL,
    PRIMARY KEY (task_id, stage)
) STRICT, WITHOUT ROWID;

CREATE TABLE team_submission_conflict (
    task_id TEXT NOT NULL,
    stage TEXT NOT NULL,
    document_digest TEXT NOT NULL,
    at INTEGER NOT NULL,
    PRIMARY KEY (task_id, stage, document_digest)
) STRICT, WITHOUT ROWID;

-- `payload`: canonical JSON of what is proposed, by kind. `supersedes`, `covers`: JSON lists of {sourceKind, id}.
CREATE TABLE team_candidate (
    candidate_id TEXT PRIMARY KEY,
    kind TEXT NOT NULL,
    task_id TEXT NOT NULL,
    repository_key TEXT NOT NULL,
    worktree_key TEXT NOT NULL,
    state TEXT NOT NULL,
    revision INTEGER NOT NULL,
    memory_id TEXT NOT NULL,
    target_path TEXT NOT NULL,
    payload TEXT NOT NULL,
    flags TEXT NOT NULL DEFAULT '[]',
    supersedes TEXT NOT NULL DEFAULT '[]',
    covers TEXT NOT NULL DEFAULT '[]',
    plan_id TEXT NOT NULL DEFAULT '',
    reason TEXT NOT NULL DEFAULT '',
    created_at INTEGER NOT NULL,
    changed_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX team_candidate_owner ON team_candidate (worktree_key, state, kind);
CREATE INDEX team_candidate_task ON team_candidate (task_id);
CREATE INDEX team_candidate_memory ON team_candidate (memory_id) WHERE memory_id != '';

-- Our assessment of a statement of a candidate, revisioned with it.
CREATE TABLE team_assessment (
    candidate_id TEXT NOT NULL,
    statement_id TEXT NOT NULL,
    revision INTEGER NOT NULL,
    citations TEXT NOT NULL,
    citations_digest TEXT NOT NULL,
    text_digest TEXT NOT NULL,
    strength TEXT NOT NULL,
    limitations TEXT NOT NULL,
    support TEXT NOT NULL,
    confirmed_at INTEGER,
    PRIMARY KEY (candidate_id, statement_id)
) STRICT, WITHOUT ROWID;

-- What comparison searches: approved entries of a worktree, and candidates. `source`: approved or candidate.
CREATE TABLE team_projection (
    worktree_key TEXT NOT NULL,
    source TEXT NOT NULL,
    generation INTEGER NOT NULL,
    analyzer_version TEXT NOT NULL,
    tree_digest TEXT NOT NULL,
    complete INTEGER NOT NULL,
    problem TEXT NOT NULL DEFAULT '',
    at INTEGER NOT NULL,
    PRIMARY KEY (worktree_key, source)
) STRICT, WITHOUT ROWID;

CREATE TABLE team_entry (
    worktree_key TEXT NOT NULL,
    memory_id TEXT NOT NULL,
    path TEXT NOT NULL,
    digest TEXT NOT NULL,
    status TEXT NOT NULL,
    entry TEXT NOT NULL,
    PRIMARY KEY (worktree_key, memory_id)
) STRICT, WITHOUT ROWID;

-- Which row of `team_terms` is of what: comparison counts the rows of one worktree alone, so that what another
-- repository says changes no order here. `size`: how many terms it has.
CREATE TABLE team_text (
    number INTEGER PRIMARY KEY,
    worktree_key TEXT NOT NULL,
    source TEXT NOT NULL,
    item_id TEXT NOT NULL,
    size INTEGER NOT NULL,
    UNIQUE (worktree_key, source, item_id)
) STRICT;

CREATE VIRTUAL TABLE team_terms USING fts5 (terms, tokenize = "unicode61 tokenchars '_-./@#$+:'");

-- `document`: the plan as prepared. `approved_clock`: the highest time that was known at the approval. `phase`: '', staging, mutating,
-- undoing, returning, done. `cleanup`: '', pending, done. `folders`: JSON list of those that a promotion makes.
CREATE TABLE team_plan (
    plan_id TEXT PRIMARY KEY,
    repository_key TEXT NOT NULL,
    worktree_key TEXT NOT NULL,
    kind TEXT NOT NULL,
    state TEXT NOT NULL,
    plan_digest TEXT NOT NULL,
    approval_digest TEXT,
    assessment_digest TEXT NOT NULL,
    policy_version TEXT NOT NULL,
    document TEXT NOT NULL,
    confirmed_via TEXT NOT NULL DEFAULT '',
    phase TEXT NOT NULL DEFAULT '',
    cleanup TEXT NOT NULL DEFAULT '',
    reason TEXT NOT NULL DEFAULT '',
    number INTEGER NOT NULL,
    approved_at INTEGER,
    approved_clock INTEGER,
    folders TEXT NOT NULL DEFAULT '[]',
    created_at INTEGER NOT NULL,
    changed_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX team_plan_owner ON team_plan (worktree_key, state);

-- The candidates of a plan, each at the revision that was prepared.
CREATE TABLE team_plan_candidate (
    plan_id TEXT NOT NULL,
    candidate_id TEXT NOT NULL,
    revision INTEGER NOT NULL,
    PRIMARY KEY (plan_id, candidate_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX team_plan_candidate_of ON team_plan_candidate (candidate_id);

-- `old`: the bytes that stood there, erased once the plan is applied. `mode`: of the file as it was, 0: there was none.
CREATE TABLE team_plan_file (
    plan_id TEXT NOT NULL,
    place INTEGER NOT NULL,
    target_path TEXT NOT NULL,
    operation TEXT NOT NULL,
    target_blob TEXT,
    sanitized_digest TEXT,
    new BLOB,
    old BLOB,
    originally_present INTEGER NOT NULL DEFAULT 0,
    mode INTEGER NOT NULL DEFAULT 0,
    intent TEXT NOT NULL DEFAULT 'pending',
    PRIMARY KEY (plan_id, place)
) STRICT, WITHOUT ROWID;

-- Consolidation: one run a patch. `entry_set`: JSON list of {id, digest} that it saw.
CREATE TABLE team_run (
    run_id TEXT PRIMARY KEY,
    worktree_key TEXT NOT NULL,
    repository_key TEXT NOT NULL,
    mode TEXT NOT NULL,
    state TEXT NOT NULL,
    task_id TEXT NOT NULL,
    candidate_id TEXT NOT NULL DEFAULT '',
    entry_set TEXT NOT NULL,
    number INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    changed_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX team_run_owner ON team_run (worktree_key, state, number);

-- The highest time that was seen: an approval does not live longer because a clock was set back.
CREATE TABLE team_clock (
    name TEXT PRIMARY KEY,
    at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
