-- `$name` stands for a constant of the run; constants.json has the values.
/* A host checks its leadership at the start of each slot by its own clock. If most checks are outside the slot that */
/* they name, the genesis has other slots than the run. */
WITH named AS (
  SELECT
    host,
    seq,
    t_ns,
    slot,
    CASE WHEN t_ns >= $system_start THEN (
      t_ns - $system_start
    ) // $slot_length END AS implied
  FROM leadership_check_started
  WHERE
    NOT slot IS NULL
), unfit AS (
  SELECT
    host,
    seq,
    t_ns,
    slot,
    implied
  FROM named
  WHERE
    implied IS DISTINCT FROM slot
), counted AS (
  SELECT
    COUNT(*) AS checks,
    (
      SELECT
        COUNT(*)
      FROM unfit
    ) AS outside
  FROM named
)
SELECT
  counted.outside,
  counted.checks,
  unfit.host,
  unfit.slot,
  STRFTIME(MAKE_TIMESTAMP_NS(unfit.t_ns), '%Y-%m-%d %H:%M:%S.%n') AS instant,
  COALESCE('in slot ' || unfit.implied, 'before slot 0') AS implied,
  (
    ABS(clocks.late) + 50000000
  ) // 1000000000 || '.' || (
    ABS(clocks.late) + 50000000
  ) // 100000000 % 10 || CASE WHEN clocks.late > 0 THEN ' s after' ELSE ' s before' END AS distance
FROM unfit
INNER JOIN clocks
  ON clocks.host = unfit.host
CROSS JOIN counted
WHERE
  counted.outside * 2 > counted.checks
ORDER BY
  unfit.host,
  unfit.seq
LIMIT 1;
