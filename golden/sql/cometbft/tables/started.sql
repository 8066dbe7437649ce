CREATE TEMPORARY VIEW started AS
SELECT
  host,
  seq,
  t_ns
FROM READ_PARQUET('events/started/*.parquet')
WHERE
  whole;
