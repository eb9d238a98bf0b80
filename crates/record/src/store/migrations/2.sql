-- Checksums: see `oscope_record::checksum` for what each covers. NULL in runs of older versions.

-- Whether checksums have covered the run since it was measured.
ALTER TABLE runs ADD COLUMN proven INTEGER NOT NULL DEFAULT 0 CHECK (proven IN (0, 1));
ALTER TABLE runs ADD COLUMN checksum BLOB;
ALTER TABLE circumstances ADD COLUMN checksum BLOB;
ALTER TABLE experiments ADD COLUMN checksum BLOB;
ALTER TABLE points ADD COLUMN checksum BLOB;
ALTER TABLE batches ADD COLUMN checksum BLOB;
