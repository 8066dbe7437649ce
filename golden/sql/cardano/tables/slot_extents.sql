CREATE TEMPORARY TABLE slot_extents AS
/* First and last analysed slot of each host. Hosts without a slot that the filters accept have no row. */
SELECT
  slot.host,
  MIN(slot.slot) AS first_slot,
  MAX(slot.slot) AS last_slot
FROM slot
WHERE
  slot.accepted
GROUP BY
  slot.host;
