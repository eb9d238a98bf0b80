-- One row of `runs` is everything that one start of oscope measured; the other tables but
-- `redaction` hang on it and go with it. What is read of a run lies in the columns `content`, as JSON
-- or, in `batches`, as `oscope_record::blob` describes; other columns find, sort and sum up. Checksums:
-- see `oscope_record::checksum` for what each covers.

-- Kept slim, since its counters are written with every batch and listings read all of it.
CREATE TABLE runs (
  -- Never given to another run, even after a deletion.
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  -- The header.
  content TEXT NOT NULL,
  -- From the header. The start is UTC with nine decimals, so that it sorts as text.
  id TEXT NOT NULL UNIQUE,
  name TEXT,
  started TEXT NOT NULL,
  fingerprint TEXT NOT NULL,
  -- How much hangs on the run.
  experiments INTEGER NOT NULL DEFAULT 0,
  points INTEGER NOT NULL DEFAULT 0,
  samples INTEGER NOT NULL DEFAULT 0,
  -- What its batches know of the full speed of the cores, for later runs of the machine. JSON.
  full_speeds TEXT NOT NULL DEFAULT '[]',
  checksum BLOB,
  -- Of the run's entry in the list of runs: all columns but the checksum.
  listing_checksum BLOB
) STRICT;

CREATE INDEX runs_by_start ON runs (started);
CREATE INDEX runs_by_name ON runs (name) WHERE name IS NOT NULL;
CREATE INDEX runs_by_machine ON runs (fingerprint);

-- The machine of a run, its environment, storage and clock.
CREATE TABLE machines (
  run INTEGER PRIMARY KEY REFERENCES runs ON DELETE CASCADE,
  content TEXT NOT NULL,
  checksum BLOB
) STRICT;

CREATE TABLE experiments (
  key INTEGER PRIMARY KEY,
  run INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE,
  position INTEGER NOT NULL,
  id TEXT NOT NULL,
  -- The definition, and why it could not run at all.
  content TEXT NOT NULL,
  checksum BLOB,
  UNIQUE (run, position),
  UNIQUE (run, id)
) STRICT;

CREATE TABLE points (
  key INTEGER PRIMARY KEY,
  experiment INTEGER NOT NULL REFERENCES experiments ON DELETE CASCADE,
  position INTEGER NOT NULL,
  -- The levels, and the ending.
  content TEXT NOT NULL,
  -- Of the batches, for the plans of later runs of the machine.
  visits INTEGER NOT NULL DEFAULT 0,
  wall_ns INTEGER NOT NULL DEFAULT 0,
  checksum BLOB,
  UNIQUE (experiment, position)
) STRICT;

CREATE TABLE batches (
  key INTEGER PRIMARY KEY,
  point INTEGER NOT NULL REFERENCES points ON DELETE CASCADE,
  position INTEGER NOT NULL,
  checksum BLOB,
  content BLOB NOT NULL,
  UNIQUE (point, position)
) STRICT;

-- One row: the secret from which marks are made, so that they are the same in all exports of this
-- store and nobody can guess what they replace.
CREATE TABLE redaction (key BLOB NOT NULL CHECK (length(key) = 32)) STRICT;
INSERT INTO redaction VALUES (randomblob(32));

-- The analysis of a run is kept with it, so that it is not judged anew each time it is shown. It
-- follows from the run and can be deleted at any time.
CREATE TABLE judgements (
  run INTEGER PRIMARY KEY REFERENCES runs ON DELETE CASCADE,
  -- The program that judged.
  code TEXT NOT NULL,
  -- The checksum of the run that was judged.
  run_checksum BLOB NOT NULL,
  -- JSON.
  analysis TEXT NOT NULL,
  -- Of the analysis.
  checksum BLOB NOT NULL
) STRICT;
