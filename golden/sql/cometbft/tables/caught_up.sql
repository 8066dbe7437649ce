CREATE TEMPORARY VIEW caught_up AS
SELECT
  host,
  seq,
  t_ns,
  height
FROM READ_PARQUET('events/caught_up/*.parquet')
WHERE
  whole;
