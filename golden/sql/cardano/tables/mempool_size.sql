CREATE TEMPORARY VIEW mempool_size AS
SELECT
  host,
  seq,
  t_ns,
  mempool_txs
FROM READ_PARQUET('events/mempool_size/*.parquet')
WHERE
  whole;
