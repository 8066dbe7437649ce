CREATE TEMPORARY VIEW load1 AS
SELECT
  host,
  seq,
  t_ns,
  series,
  instance,
  job,
  value
FROM READ_PARQUET('events/load1/*.parquet')
WHERE
  whole;
