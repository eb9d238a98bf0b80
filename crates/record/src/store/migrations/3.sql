-- JSON of the limits of the run and of what it took; NULL for a run without limits.
ALTER TABLE circumstances ADD COLUMN limited TEXT;
