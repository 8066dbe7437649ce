CREATE TEMPORARY VIEW ledger_view AS
SELECT
  host,
  seq,
  t_ns,
  slot
FROM events
WHERE
  event = 'ledger_view';
