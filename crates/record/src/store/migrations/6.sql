-- Two reference loops around each timing.

-- JSON of the full speed known by then; NULL in runs with one reference loop.
ALTER TABLE batches ADD COLUMN full_speed TEXT;
-- `once` and `latencies`: JSON of the conditions around it. Those of legs are with the legs.
ALTER TABLE samples ADD COLUMN around TEXT;
