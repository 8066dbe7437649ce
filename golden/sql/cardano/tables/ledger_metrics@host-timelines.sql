CREATE TEMPORARY VIEW ledger_metrics AS
SELECT
  host,
  seq,
  t_ns,
  slot
FROM READ_PARQUET('events/ledger_metrics/*.parquet')
WHERE
  whole;
