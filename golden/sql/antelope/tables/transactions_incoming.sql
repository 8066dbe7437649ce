CREATE TEMPORARY VIEW transactions_incoming AS
SELECT
  host,
  seq,
  t_ns,
  series,
  instance,
  job,
  value
FROM READ_PARQUET('events/transactions_incoming/*.parquet')
WHERE
  whole;
