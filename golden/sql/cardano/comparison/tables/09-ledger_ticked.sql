CREATE TEMPORARY VIEW ledger_ticked AS
SELECT
  host,
  seq,
  t_ns,
  slot
FROM events
WHERE
  event = 'ledger_ticked';
