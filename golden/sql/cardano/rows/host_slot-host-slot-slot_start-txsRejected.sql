SELECT
  host,
  slot,
  slot_start,
  txs_rejected AS "txsRejected"
FROM host_slot
ORDER BY
  host,
  slot;
