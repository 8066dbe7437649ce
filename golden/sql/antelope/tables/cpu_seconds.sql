CREATE TEMPORARY VIEW cpu_seconds AS
SELECT
  host,
  seq,
  t_ns,
  series,
  cpu,
  instance,
  job,
  mode,
  value
FROM READ_PARQUET('events/cpu_seconds/*.parquet')
WHERE
  whole;
