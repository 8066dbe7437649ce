CREATE TEMPORARY VIEW height AS
SELECT
  host,
  seq,
  t_ns,
  series,
  instance,
  job,
  role,
  value
FROM READ_PARQUET('events/height/*.parquet')
WHERE
  whole;
