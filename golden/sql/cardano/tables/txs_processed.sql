CREATE TEMPORARY VIEW txs_processed AS
SELECT
  host,
  seq,
  t_ns,
  accepted,
  rejected
FROM READ_PARQUET('events/txs_processed/*.parquet')
WHERE
  whole;
