CREATE TEMPORARY VIEW ledger_state AS
SELECT
  host,
  seq,
  t_ns,
  slot
FROM events
WHERE
  event = 'ledger_state';
