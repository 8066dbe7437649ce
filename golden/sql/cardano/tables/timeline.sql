CREATE TEMPORARY TABLE timeline AS
/* The slots of each host's timeline: the opening slot, the slots reached, and the slots skipped (gaps). */
/* `reached_seq` is the position in the log of the event that reached or skipped the slot. */
WITH jumps AS (
  SELECT
    host,
    seq,
    latest AS slot,
    before
  FROM slot_marks
  WHERE
    latest > before
)
SELECT
  host,
  slot,
  'opening' AS kind,
  0 AS reached_seq,
  slot AS before
FROM openings
UNION ALL
SELECT
  host,
  slot,
  'reached' AS kind,
  seq AS reached_seq,
  before
FROM jumps
UNION ALL
SELECT
  gaps.host,
  gaps.slot,
  'gap' AS kind,
  gaps.seq AS reached_seq,
  gaps.before
FROM (
  SELECT
    host,
    seq,
    before,
    UNNEST(GENERATE_SERIES(before + 1, slot - 1)) AS slot
  FROM jumps
  WHERE
    slot > before + 1
) AS gaps;
