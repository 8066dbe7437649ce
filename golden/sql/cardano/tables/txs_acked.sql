CREATE TEMPORARY VIEW txs_acked AS
SELECT
  host,
  seq,
  t_ns
FROM READ_PARQUET('events/txs_acked/*.parquet')
WHERE
  whole;
