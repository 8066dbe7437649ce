CREATE TEMPORARY VIEW memory_available AS
SELECT
  host,
  seq,
  t_ns,
  series,
  instance,
  job,
  value
FROM READ_PARQUET('events/memory_available/*.parquet')
WHERE
  whole;
