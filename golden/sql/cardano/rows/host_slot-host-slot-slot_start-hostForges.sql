SELECT
  host,
  slot,
  slot_start,
  forged AS "hostForges"
FROM host_slot
ORDER BY
  host,
  slot;
