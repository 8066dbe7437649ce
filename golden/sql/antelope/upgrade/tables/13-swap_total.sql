CREATE TEMPORARY VIEW swap_total AS
SELECT
  host,
  seq,
  t_ns,
  instance,
  job,
  value
FROM READ_PARQUET('events/swap_total/*.parquet')
WHERE
  whole;
