CREATE TEMPORARY VIEW proposed AS
SELECT
  host,
  seq,
  t_ns
FROM READ_PARQUET('events/proposed/*.parquet')
WHERE
  whole;
