CREATE TEMPORARY VIEW fetch_completed AS
SELECT
  host,
  seq,
  t_ns
FROM READ_PARQUET('events/fetch_completed/*.parquet')
WHERE
  whole;
