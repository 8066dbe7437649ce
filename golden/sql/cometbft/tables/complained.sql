CREATE TEMPORARY VIEW complained AS
SELECT
  host,
  seq,
  t_ns
FROM READ_PARQUET('events/complained/*.parquet')
WHERE
  whole;
