CREATE TEMPORARY VIEW ledger_state AS
SELECT
  host,
  seq,
  t_ns,
  slot
FROM READ_PARQUET('events/ledger_state/*.parquet')
WHERE
  whole;
