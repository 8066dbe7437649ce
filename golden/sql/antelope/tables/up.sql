CREATE TEMPORARY VIEW up AS
SELECT
  host,
  seq,
  t_ns,
  series,
  instance,
  job,
  value
FROM READ_PARQUET('events/up/*.parquet')
WHERE
  whole;
