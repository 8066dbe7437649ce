CREATE TEMPORARY VIEW resident AS
SELECT
  host,
  seq,
  t_ns,
  instance,
  job,
  value
FROM READ_PARQUET('events/resident/*.parquet')
WHERE
  whole;
