CREATE TEMPORARY VIEW synced_height AS
SELECT
  host,
  seq,
  t_ns,
  instance,
  job,
  role,
  value
FROM READ_PARQUET('events/synced_height/*.parquet')
WHERE
  whole;
