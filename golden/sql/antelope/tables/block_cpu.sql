CREATE TEMPORARY VIEW block_cpu AS
SELECT
  host,
  seq,
  t_ns,
  series,
  block_type,
  instance,
  job,
  value
FROM READ_PARQUET('events/block_cpu/*.parquet')
WHERE
  whole;
