CREATE TEMPORARY VIEW ledger_ticked AS
SELECT
  host,
  seq,
  t_ns,
  slot
FROM READ_PARQUET('events/ledger_ticked/*.parquet')
WHERE
  whole;
