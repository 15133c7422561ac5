-- A mute may end by itself, and may concern a kind of memory, or everything, in a workspace.
ALTER TABLE mark ADD COLUMN muted_until INTEGER;  -- NULL: until a person lets it speak again
CREATE TABLE mute (
    workspace   TEXT NOT NULL,                    -- its key
    kind        TEXT NOT NULL,                    -- a kind of memory; empty: everything
    muted_at    INTEGER NOT NULL,
    muted_until INTEGER,                          -- NULL: until a person lets it speak again
    PRIMARY KEY (workspace, kind)
) WITHOUT ROWID;
