CREATE TEMPORARY VIEW txs_collected AS
SELECT
  host,
  seq,
  t_ns,
  count
FROM READ_PARQUET('events/txs_collected/*.parquet')
WHERE
  whole;
