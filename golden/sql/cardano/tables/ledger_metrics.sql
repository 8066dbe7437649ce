CREATE TEMPORARY VIEW ledger_metrics AS
SELECT
  host,
  seq,
  t_ns,
  chain_density,
  slot,
  utxo_size
FROM READ_PARQUET('events/ledger_metrics/*.parquet')
WHERE
  whole;
