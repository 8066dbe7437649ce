CREATE TEMPORARY VIEW ledger_view AS
SELECT
  host,
  seq,
  t_ns,
  slot
FROM READ_PARQUET('events/ledger_view/*.parquet')
WHERE
  whole;
