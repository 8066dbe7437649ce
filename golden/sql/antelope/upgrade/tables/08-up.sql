CREATE TEMPORARY VIEW up AS
SELECT
  host,
  seq,
  t_ns,
  instance,
  job,
  value
FROM READ_PARQUET('events/up/*.parquet')
WHERE
  whole;
