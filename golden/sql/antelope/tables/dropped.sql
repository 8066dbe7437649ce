CREATE TEMPORARY VIEW dropped AS
SELECT
  host,
  seq,
  t_ns,
  number
FROM READ_PARQUET('events/dropped/*.parquet')
WHERE
  whole;
