CREATE TEMPORARY VIEW transactions_produced AS
SELECT
  host,
  seq,
  t_ns,
  series,
  instance,
  job,
  value
FROM READ_PARQUET('events/transactions_produced/*.parquet')
WHERE
  whole;
