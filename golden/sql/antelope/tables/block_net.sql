CREATE TEMPORARY VIEW block_net AS
SELECT
  host,
  seq,
  t_ns,
  series,
  block_type,
  instance,
  job,
  value
FROM READ_PARQUET('events/block_net/*.parquet')
WHERE
  whole;
