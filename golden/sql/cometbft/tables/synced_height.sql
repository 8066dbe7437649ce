CREATE TEMPORARY VIEW synced_height AS
SELECT
  host,
  seq,
  t_ns,
  series,
  instance,
  job,
  role,
  value
FROM READ_PARQUET('events/synced_height/*.parquet')
WHERE
  whole;
