CREATE TEMPORARY VIEW written AS
SELECT
  host,
  seq,
  t_ns,
  series,
  device,
  instance,
  job,
  value
FROM READ_PARQUET('events/written/*.parquet')
WHERE
  whole;
