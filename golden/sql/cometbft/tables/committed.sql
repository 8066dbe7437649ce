CREATE TEMPORARY VIEW committed AS
SELECT
  host,
  seq,
  t_ns,
  height
FROM READ_PARQUET('events/committed/*.parquet')
WHERE
  whole;
