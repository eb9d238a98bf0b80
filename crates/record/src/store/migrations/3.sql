-- JSON of the limits of the run and of what it took; NULL for a run without limits.
ALTER TABLE circumstances ADD COLUMN limited TEXT;
-- The list of runs proves itself, and runs can be redacted: see `oscope_record::redact`.

-- Whether marks stand in the place of what named the machine and its people.
ALTER TABLE runs ADD COLUMN redacted INTEGER NOT NULL DEFAULT 0 CHECK (redacted IN (0, 1));
-- Of what a listing tells of the run; NULL in runs that an older version stored.
ALTER TABLE runs ADD COLUMN listing_checksum BLOB;

-- One row: the secret from which marks are made, so that they are the same in all exports of this store
-- and nobody can guess what they stand for.
CREATE TABLE redaction (key BLOB NOT NULL CHECK (length(key) = 32)) STRICT;
INSERT INTO redaction VALUES (randomblob(32));
