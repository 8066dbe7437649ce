CREATE TEMPORARY VIEW swap_total AS
SELECT
  host,
  seq,
  t_ns,
  series,
  instance,
  job,
  value
FROM READ_PARQUET('events/swap_total/*.parquet')
WHERE
  whole;
