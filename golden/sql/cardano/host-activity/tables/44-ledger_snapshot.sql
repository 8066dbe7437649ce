CREATE TEMPORARY VIEW ledger_snapshot AS
SELECT
  host,
  seq,
  t_ns
FROM READ_PARQUET('events/ledger_snapshot/*.parquet')
WHERE
  whole;
