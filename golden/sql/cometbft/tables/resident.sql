CREATE TEMPORARY VIEW resident AS
SELECT
  host,
  seq,
  t_ns,
  series,
  instance,
  job,
  value
FROM READ_PARQUET('events/resident/*.parquet')
WHERE
  whole;
