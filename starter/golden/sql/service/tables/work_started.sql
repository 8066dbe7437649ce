CREATE TEMPORARY VIEW work_started AS
SELECT
  host,
  seq,
  t_ns,
  request
FROM READ_PARQUET('events/work_started/*.parquet')
WHERE
  whole;
