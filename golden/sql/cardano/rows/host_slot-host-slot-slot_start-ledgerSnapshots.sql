SELECT
  host,
  slot,
  slot_start,
  snapshots AS "ledgerSnapshots"
FROM host_slot
ORDER BY
  host,
  slot;
