CREATE TEMPORARY VIEW leadership_check_started AS
SELECT
  host,
  seq,
  t_ns,
  chain_density,
  slot,
  utxo_size
FROM READ_PARQUET('events/leadership_check_started/*.parquet')
WHERE
  whole;
