CREATE TEMPORARY VIEW disk_written AS
SELECT
  host,
  seq,
  t_ns,
  device,
  instance,
  job,
  value
FROM READ_PARQUET('events/disk_written/*.parquet')
WHERE
  whole;
