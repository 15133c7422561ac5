-- A memory that somebody corrected, or that is held back, waits for a person; a high-risk procedure for their approval.
ALTER TABLE mark ADD COLUMN corrected_at INTEGER;    -- NULL: nobody corrected it
ALTER TABLE mark ADD COLUMN quarantined_at INTEGER;  -- NULL: it is not held back
ALTER TABLE mark ADD COLUMN approved TEXT;           -- digest of the record as a person approved it; NULL: not approved
ALTER TABLE mark ADD COLUMN approved_at INTEGER;
CREATE TABLE mark_change (
    one     INTEGER PRIMARY KEY CHECK (one = 1),
    changes INTEGER NOT NULL                         -- how often one of these four was changed
) WITHOUT ROWID;
INSERT INTO mark_change (one, changes) VALUES (1, 0);
