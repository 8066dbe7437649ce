CREATE TEMPORARY VIEW memory_total AS
SELECT
  host,
  seq,
  t_ns,
  series,
  instance,
  job,
  value
FROM READ_PARQUET('events/memory_total/*.parquet')
WHERE
  whole;
