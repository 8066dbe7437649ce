CREATE TEMPORARY VIEW total_txs AS
SELECT
  host,
  seq,
  t_ns,
  series,
  instance,
  job,
  value
FROM READ_PARQUET('events/total_txs/*.parquet')
WHERE
  whole;
