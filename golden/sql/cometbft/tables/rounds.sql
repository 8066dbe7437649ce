CREATE TEMPORARY VIEW rounds AS
SELECT
  host,
  seq,
  t_ns,
  series,
  instance,
  job,
  value
FROM READ_PARQUET('events/rounds/*.parquet')
WHERE
  whole;
