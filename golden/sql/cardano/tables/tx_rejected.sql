CREATE TEMPORARY VIEW tx_rejected AS
SELECT
  host,
  seq,
  t_ns
FROM READ_PARQUET('events/tx_rejected/*.parquet')
WHERE
  whole;
