-- Runs of the second edition: passes, legs, and a reference loop beside them.

-- The pass of the run, from 0; NULL in runs of the first edition.
ALTER TABLE batches ADD COLUMN pass INTEGER;
-- Wall time of the reference loop at the full speed known by then.
ALTER TABLE batches ADD COLUMN full_speed_ns REAL;

-- Samples have two more columns and one more kind, which a check names: so the table is made again.
DROP VIEW measurements;
ALTER TABLE samples RENAME TO samples_before;
CREATE TABLE samples (
  batch INTEGER NOT NULL REFERENCES batches ON DELETE CASCADE,
  position INTEGER NOT NULL,
  metric TEXT NOT NULL,
  kind TEXT NOT NULL,
  -- Bytes or operations: of one iteration for `legs` and `difference`, of the sample for `once`.
  work REAL,
  -- `legs`: iterations of each leg. `difference`: wall time of n iterations and of 2n.
  iterations INTEGER,
  short_ns INTEGER,
  long_ns INTEGER,
  -- `once`
  wall_ns INTEGER,
  -- `latencies`: percentiles of so many single operations.
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
  -- `once` and `latencies`: wall time of the reference loop beside it.
  reference_ns INTEGER,
  PRIMARY KEY (batch, position),
  CHECK (CASE kind
    WHEN 'legs' THEN work + iterations IS NOT NULL AND legs IS NOT NULL
    WHEN 'difference' THEN work + iterations + short_ns + long_ns IS NOT NULL
    WHEN 'once' THEN work + wall_ns IS NOT NULL
    WHEN 'latencies' THEN count + p5_ns + p50_ns + p95_ns + p99_ns IS NOT NULL
    WHEN 'value' THEN value IS NOT NULL
    ELSE FALSE
  END)
) STRICT, WITHOUT ROWID;
INSERT INTO samples
  SELECT batch, position, metric, kind, work, iterations, short_ns, long_ns, wall_ns, count, p5_ns,
         p50_ns, p95_ns, p99_ns, value, user_ns, system_ns, minor_faults, major_faults,
         voluntary_switches, involuntary_switches, at_ns, NULL, NULL
  FROM samples_before;
DROP TABLE samples_before;

-- Every sample with where it belongs, for those who ask in SQL.
CREATE VIEW measurements AS
  SELECT
    experiments.run, experiments.id AS experiment, points.levels AS point,
    batches.position AS batch, batches.pass, batches.cpu, samples.position AS sample,
    metric, kind, work, iterations, short_ns, long_ns, samples.wall_ns, legs, reference_ns,
    count, p5_ns, p50_ns, p95_ns, p99_ns, value,
    user_ns, system_ns, minor_faults, major_faults, voluntary_switches, involuntary_switches, at_ns
  FROM samples
  JOIN batches ON batches.key = samples.batch
  JOIN points ON points.key = batches.point
  JOIN experiments ON experiments.key = points.experiment;
