-- Two reference loops around each timing.

-- JSON of the full speed known by then; NULL in runs with one reference loop.
ALTER TABLE batches ADD COLUMN full_speed TEXT;
-- `once` and `latencies`: JSON of the conditions around it. Those of legs are with the legs.
ALTER TABLE samples ADD COLUMN around TEXT;

DROP VIEW measurements;
CREATE VIEW measurements AS
  SELECT
    experiments.run, experiments.id AS experiment, points.levels AS point,
    batches.position AS batch, batches.pass, batches.cpu, samples.position AS sample,
    metric, kind, work, iterations, short_ns, long_ns, samples.wall_ns, legs, reference_ns,
    count, p5_ns, p50_ns, p95_ns, p99_ns, value,
    user_ns, system_ns, minor_faults, major_faults, voluntary_switches, involuntary_switches, at_ns,
    around
  FROM samples
  JOIN batches ON batches.key = samples.batch
  JOIN points ON points.key = batches.point
  JOIN experiments ON experiments.key = points.experiment;
