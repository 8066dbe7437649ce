SELECT
  host,
  slot,
  slot_start,
  objects AS "logObjects"
FROM host_slot
ORDER BY
  host,
  slot;
