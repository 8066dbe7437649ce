-- `$name` stands for a constant of the run; constants.json has the values.
CREATE TEMPORARY TABLE block_gaps AS
/* The block gap of each slot: slots since the tip of the host's chain last changed. */
/* State of a host: the block number of its last block context and the slot of the last change, both 0 at first. A */
/* context with another block number sets the gap of its slot to 0; one with the same number sets it to that of the */
/* latest slot. */
WITH contexts AS (
  SELECT
    host,
    seq,
    slot,
    block_no <> COALESCE(LAG(block_no) OVER (PARTITION BY host ORDER BY seq), 0) AS changed
  FROM block_context
  WHERE
    t_ns >= $system_start
), located AS (
  SELECT
    contexts.host,
    contexts.seq,
    contexts.slot,
    contexts.changed,
    reached.slot AS latest
  FROM contexts
  ASOF JOIN (
    SELECT
      host,
      slot,
      reached_seq
    FROM timeline
    WHERE
      kind <> 'gap'
  ) AS reached
    ON reached.host = contexts.host AND reached.reached_seq < contexts.seq
), changes AS (
  SELECT
    host,
    seq,
    slot,
    latest
  FROM located
  WHERE
    changed
), starts /* The block gap at the start of each slot. */ AS (
  SELECT
    timeline.host,
    timeline.slot,
    timeline.reached_seq,
    CASE
      WHEN timeline.kind = 'opening'
      THEN 0
      ELSE timeline.slot - COALESCE(changes.latest, 0)
    END AS gap
  FROM timeline
  ASOF LEFT JOIN changes
    ON changes.host = timeline.host AND changes.seq < timeline.reached_seq
), notable /* Most slots keep their initial block gap: all contexts of the slot are logged in it, and change nothing. */ AS (
  SELECT DISTINCT
    host,
    slot
  FROM located
  WHERE
    changed OR latest <> slot
), deciding /* The last context that names a slot decides, if there is one. */ AS (
  SELECT
    host,
    slot,
    ARG_MAX(changed, seq) AS changed,
    ARG_MAX(latest, seq) AS latest,
    MAX(seq) AS seq,
    MIN(CASE WHEN changed THEN seq END) AS first_change
  FROM located
  SEMI JOIN notable
    ON notable.host = located.host AND notable.slot = located.slot
  GROUP BY
    host,
    slot
), elsewhere /* The block gap of the latest slot, if the context that decides is logged in another slot than it names. */ AS (
  SELECT
    deciding.host,
    deciding.slot,
    starts.gap,
    reset.first_change
  FROM deciding
  LEFT JOIN starts
    ON starts.host = deciding.host AND starts.slot = deciding.latest
  LEFT JOIN deciding AS reset
    ON reset.host = deciding.host AND reset.slot = deciding.latest
  WHERE
    deciding.latest <> deciding.slot
)
SELECT
  starts.host,
  starts.slot,
  CASE
    WHEN deciding.seq IS NULL
    THEN starts.gap
    WHEN deciding.changed
    THEN 0
    WHEN deciding.latest = deciding.slot
    THEN CASE WHEN deciding.first_change IS NULL THEN starts.gap ELSE 0 END
    WHEN elsewhere.first_change < deciding.seq
    THEN 0
    ELSE elsewhere.gap
  END AS block_gap
FROM starts
LEFT JOIN deciding
  ON deciding.host = starts.host AND deciding.slot = starts.slot
LEFT JOIN elsewhere
  ON elsewhere.host = starts.host AND elsewhere.slot = starts.slot;
