CREATE TEMPORARY VIEW mempool AS
SELECT
  host,
  seq,
  t_ns,
  series,
  instance,
  job,
  value
FROM READ_PARQUET('events/mempool/*.parquet')
WHERE
  whole;
