CREATE TEMPORARY VIEW leadership_decided AS
SELECT
  host,
  seq,
  t_ns,
  slot
FROM READ_PARQUET('events/leadership_decided/*.parquet')
WHERE
  whole;
