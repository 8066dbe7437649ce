CREATE TEMPORARY VIEW head_block AS
SELECT
  host,
  seq,
  t_ns,
  series,
  instance,
  job,
  value
FROM READ_PARQUET('events/head_block/*.parquet')
WHERE
  whole;
