CREATE TEMPORARY VIEW fetch_requested AS
SELECT
  host,
  seq,
  t_ns,
  block,
  length
FROM READ_PARQUET('events/fetch_requested/*.parquet')
WHERE
  whole;
