CREATE TEMPORARY VIEW peers AS
SELECT
  host,
  seq,
  t_ns,
  series,
  instance,
  job,
  value
FROM READ_PARQUET('events/peers/*.parquet')
WHERE
  whole;
