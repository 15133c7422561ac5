-- G-02: what is left of entries that were let go. One row; `document` is the canonical JSON whose SHA-256 is `digest`,
-- and which an entry of the chain names.
CREATE TABLE audit_checkpoint (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    digest TEXT NOT NULL,
    document BLOB NOT NULL
) STRICT;
