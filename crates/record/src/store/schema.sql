-- One row of `runs` is everything that one start of oscope measured; all other tables but
-- `machines` hang on it and go with it. Times are wall times in ns unless their name says
-- otherwise; timestamps are UTC with nine decimals, so that they sort as text. Checksums: see
-- `oscope_record::checksum` for what each covers.

CREATE TABLE machines (
  key INTEGER PRIMARY KEY,
  fingerprint TEXT NOT NULL,
  -- JSON. Machines of one fingerprint may differ in what a kernel can change.
  description TEXT NOT NULL,
  UNIQUE (fingerprint, description)
) STRICT;

-- Kept slim, since its counters are written with every batch and listings read all of it.
CREATE TABLE runs (
  -- Never given to another run, even after a deletion.
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  name TEXT,
  started TEXT NOT NULL,
  -- NULL while the run is under way, and for ever if it was cut off.
  ended TEXT,
  interrupted INTEGER NOT NULL CHECK (interrupted IN (0, 1)),
  profile TEXT NOT NULL,
  machine INTEGER NOT NULL REFERENCES machines,
  directory TEXT NOT NULL,
  -- JSON object of strings.
  tags TEXT NOT NULL,
  -- How much hangs on the run.
  experiments INTEGER NOT NULL DEFAULT 0,
  points INTEGER NOT NULL DEFAULT 0,
  samples INTEGER NOT NULL DEFAULT 0,
  -- Whether checksums have covered the run since it was measured.
  proven INTEGER NOT NULL CHECK (proven IN (0, 1)),
  -- Whether marks replace the names of the machine and its people: see `oscope_record::redact`.
  redacted INTEGER NOT NULL CHECK (redacted IN (0, 1)),
  checksum BLOB,
  -- Of the run's entry in the list of runs.
  listing_checksum BLOB
) STRICT;

CREATE INDEX runs_by_start ON runs (started);
CREATE INDEX runs_by_name ON runs (name) WHERE name IS NOT NULL;
CREATE INDEX runs_by_machine ON runs (machine);

CREATE TABLE circumstances (
  run INTEGER PRIMARY KEY REFERENCES runs ON DELETE CASCADE,
  version TEXT NOT NULL,
  -- JSON array of strings.
  command_line TEXT NOT NULL,
  budget_ns REAL NOT NULL,
  -- Decimal: it may be larger than an integer of SQLite.
  seed TEXT NOT NULL,
  -- JSON.
  environment TEXT NOT NULL,
  -- JSON; `null` where the system does not tell.
  storage TEXT NOT NULL,
  clock_resolution_ns REAL NOT NULL,
  clock_cost_ns REAL NOT NULL,
  -- JSON of the limits of the run and of its use of them; NULL for a run without limits.
  limited TEXT,
  checksum BLOB
) STRICT;

CREATE TABLE experiments (
  key INTEGER PRIMARY KEY,
  run INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE,
  position INTEGER NOT NULL,
  id TEXT NOT NULL,
  -- JSON.
  definition TEXT NOT NULL,
  -- Why it could not run at all.
  skipped TEXT,
  checksum BLOB,
  UNIQUE (run, position),
  UNIQUE (run, id)
) STRICT;

CREATE TABLE points (
  key INTEGER PRIMARY KEY,
  experiment INTEGER NOT NULL REFERENCES experiments ON DELETE CASCADE,
  position INTEGER NOT NULL,
  -- JSON array of pairs of axis and level.
  levels TEXT NOT NULL,
  -- NULL where the run was cut off before.
  ending TEXT CHECK (ending IN ('target_reached', 'budget_used', 'interrupted', 'failed')),
  -- Why it failed.
  failure TEXT,
  checksum BLOB,
  UNIQUE (experiment, position),
  CHECK ((ending IS 'failed') = (failure IS NOT NULL))
) STRICT;

CREATE TABLE batches (
  key INTEGER PRIMARY KEY,
  point INTEGER NOT NULL REFERENCES points ON DELETE CASCADE,
  position INTEGER NOT NULL,
  warm INTEGER NOT NULL CHECK (warm IN (0, 1)),
  cpu INTEGER,
  -- Monotonic ns of the machine.
  started_ns INTEGER NOT NULL,
  wall_ns INTEGER NOT NULL,
  -- CPU time of all processors.
  stolen_ns INTEGER,
  others_ns INTEGER,
  frequency_before_hz REAL,
  frequency_after_hz REAL,
  -- JSON array of strings.
  remarks TEXT NOT NULL,
  -- The pass of the run, from 0; NULL for values that a publication printed.
  pass INTEGER,
  -- Wall time of the reference loop at the full speed known by then, in runs with one such loop.
  full_speed_ns REAL,
  -- JSON of the full speed known by then, in runs with two reference loops.
  full_speed TEXT,
  checksum BLOB,
  UNIQUE (point, position)
) STRICT;

CREATE TABLE samples (
  batch INTEGER NOT NULL REFERENCES batches ON DELETE CASCADE,
  position INTEGER NOT NULL,
  metric TEXT NOT NULL,
  kind TEXT NOT NULL,
  -- Bytes or operations: of one iteration for `legs`, of the sample for `once`.
  work REAL,
  -- `legs`: iterations of each leg.
  iterations INTEGER,
  -- `once`
  wall_ns INTEGER,
  -- `latencies`: number of single operations, and their percentiles.
  count INTEGER,
  p5_ns REAL,
  p50_ns REAL,
  p95_ns REAL,
  p99_ns REAL,
  -- `value`: in the metric's unit.
  value REAL,
  -- CPU time.
  user_ns INTEGER NOT NULL,
  system_ns INTEGER NOT NULL,
  minor_faults INTEGER NOT NULL,
  major_faults INTEGER NOT NULL,
  voluntary_switches INTEGER NOT NULL,
  involuntary_switches INTEGER NOT NULL,
  -- Monotonic ns of the machine.
  at_ns INTEGER NOT NULL,
  -- `legs`: JSON of the wall times.
  legs TEXT,
  -- `once` and `latencies`: wall time of the reference loop, and JSON of the conditions around it.
  -- Those of legs are with the legs.
  reference_ns INTEGER,
  around TEXT,
  PRIMARY KEY (batch, position),
  CHECK (CASE kind
    WHEN 'legs' THEN work + iterations IS NOT NULL AND legs IS NOT NULL
    WHEN 'once' THEN work + wall_ns IS NOT NULL
    WHEN 'latencies' THEN count + p5_ns + p50_ns + p95_ns + p99_ns IS NOT NULL
    WHEN 'value' THEN value IS NOT NULL
    ELSE FALSE
  END)
) STRICT, WITHOUT ROWID;

CREATE TABLE warnings (
  point INTEGER NOT NULL REFERENCES points ON DELETE CASCADE,
  position INTEGER NOT NULL,
  -- One or two words.
  label TEXT NOT NULL,
  -- JSON of the whole warning.
  warning TEXT NOT NULL,
  PRIMARY KEY (point, position)
) STRICT, WITHOUT ROWID;

-- What could not be measured, and why; without a point where a whole experiment could not run.
CREATE VIEW failures AS
  SELECT run, id AS experiment, NULL AS point, skipped AS reason
  FROM experiments WHERE skipped IS NOT NULL
  UNION ALL
  SELECT run, id, levels, failure
  FROM points JOIN experiments ON experiments.key = points.experiment
  WHERE failure IS NOT NULL;

-- Every sample with where it belongs, for those who ask in SQL.
CREATE VIEW measurements AS
  SELECT
    experiments.run, experiments.id AS experiment, points.levels AS point,
    batches.position AS batch, batches.pass, batches.cpu, samples.position AS sample,
    metric, kind, work, iterations, samples.wall_ns, legs, reference_ns, around,
    count, p5_ns, p50_ns, p95_ns, p99_ns, value,
    user_ns, system_ns, minor_faults, major_faults, voluntary_switches, involuntary_switches, at_ns
  FROM samples
  JOIN batches ON batches.key = samples.batch
  JOIN points ON points.key = batches.point
  JOIN experiments ON experiments.key = points.experiment;

-- One row: the secret from which marks are made, so that they are the same in all exports of this
-- store and nobody can guess what they replace.
CREATE TABLE redaction (key BLOB NOT NULL CHECK (length(key) = 32)) STRICT;
INSERT INTO redaction VALUES (randomblob(32));

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
