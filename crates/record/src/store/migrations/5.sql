-- The analysis of a run is kept with it, so that it is not judged anew each time it is shown. It
-- follows from the run and can be deleted at any time.
CREATE TABLE judgements (
  run INTEGER PRIMARY KEY REFERENCES runs ON DELETE CASCADE,
  -- The version of the code that judged.
  code TEXT NOT NULL,
  -- The seal of the run's rows that were judged: see `store/seal.rs`.
  seal BLOB NOT NULL,
  -- JSON.
  analysis TEXT NOT NULL,
  -- Of the analysis.
  checksum BLOB NOT NULL
) STRICT;
