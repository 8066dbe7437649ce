-- `$name` stands for a constant of the run; constants.json has the values.
CREATE TEMPORARY TABLE slot_marks AS
/* The events that extend a host's slot timeline, and those before it: the slot of each (the one that it names, or that */
/* of its instant), and the latest slot of the timeline before and after it. Events before the start of the system do */
/* not count. */
WITH marks AS (
  SELECT
    host,
    seq,
    t_ns,
    TRUE AS started,
    slot
  FROM leadership_check_started
  WHERE
    t_ns >= $system_start
  UNION ALL
  SELECT
    host,
    seq,
    t_ns,
    FALSE AS started,
    (
      t_ns - $system_start
    ) // $slot_length AS slot
  FROM resources
  WHERE
    t_ns >= $system_start
), successive AS (
  SELECT
    marks.*,
    LAG(slot) OVER (PARTITION BY host ORDER BY seq) AS preceding
  FROM marks
), peaks /* Slots mostly ascend, and then the greatest slot so far is that of the mark itself. So only the greatest slots before */ /* a descent are needed; a running maximum over all marks takes three times as long. */ AS (
  SELECT
    host,
    seq,
    MAX(preceding) OVER (PARTITION BY host ORDER BY seq ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS slot
  FROM successive
  WHERE
    slot < preceding
), stepping /* A mark that is not after the previous one does not extend the timeline. */ AS (
  SELECT
    successive.*,
    openings.slot AS opening
  FROM successive
  INNER JOIN openings
    ON openings.host = successive.host
  WHERE
    successive.preceding IS NULL
    OR successive.slot > successive.preceding
    OR successive.slot < openings.slot
), reached AS (
  SELECT
    stepping.*,
    GREATEST(stepping.opening, stepping.slot, peaks.slot) AS latest,
    GREATEST(stepping.opening, stepping.preceding, peaks.slot) AS before
  FROM stepping
  ASOF LEFT JOIN peaks
    ON peaks.host = stepping.host AND peaks.seq <= stepping.seq
)
SELECT
  host,
  seq,
  t_ns,
  CASE WHEN started THEN 'started' ELSE 'resources' END AS mark,
  opening,
  slot,
  latest,
  before
FROM reached
WHERE
  latest > before OR slot < opening;
