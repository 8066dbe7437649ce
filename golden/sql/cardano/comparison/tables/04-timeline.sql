CREATE TEMPORARY TABLE timeline AS
/* The slots of each host's timeline: the opening slot, the slots reached, and the slots jumped over (gaps). */
/* `reached_seq` is the place in the log of the event that reached the slot, or jumped over it. */
WITH steps AS (
  SELECT
    host,
    seq,
    latest AS slot,
    opening,
    COALESCE(LAG(latest) OVER (PARTITION BY host ORDER BY seq), opening) AS before
  FROM slot_marks
), jumps AS (
  SELECT
    host,
    seq,
    slot,
    before
  FROM steps
  WHERE
    slot > before
)
SELECT
  host,
  opening AS slot,
  'opening' AS kind,
  0 AS reached_seq,
  opening AS before
FROM slot_marks
GROUP BY
  host,
  opening
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
