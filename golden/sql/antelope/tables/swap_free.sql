CREATE TEMPORARY VIEW swap_free AS
SELECT
  host,
  seq,
  t_ns,
  series,
  instance,
  job,
  value
FROM READ_PARQUET('events/swap_free/*.parquet')
WHERE
  whole;
