SELECT
  host,
  slot,
  slot_start,
  txs_accepted AS "txsAccepted"
FROM host_slot
ORDER BY
  host,
  slot;
