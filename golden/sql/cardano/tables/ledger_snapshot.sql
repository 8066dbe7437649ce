CREATE TEMPORARY VIEW ledger_snapshot AS
SELECT
  host,
  seq,
  t_ns,
  edge
FROM READ_PARQUET('events/ledger_snapshot/*.parquet')
WHERE
  whole;
