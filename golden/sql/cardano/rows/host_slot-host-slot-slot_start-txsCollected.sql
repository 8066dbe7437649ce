SELECT
  host,
  slot,
  slot_start,
  txs_collected AS "txsCollected"
FROM host_slot
ORDER BY
  host,
  slot;
