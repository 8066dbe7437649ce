-- `$name` stands for a constant of the run; constants.json has the values.
CREATE TEMPORARY TABLE clocks AS
/* A host checks its leadership at the start of each slot. `late` is the median time from the start of the slot to the */
/* check by the host's clock; `apart` is its difference from the median host. Of two hosts in the middle, the one nearer */
/* to the slots counts as the median. */
WITH hosts AS (
  SELECT
    host,
    QUANTILE_DISC(t_ns - (
      $system_start + slot * $slot_length
    ), 0.5) AS late
  FROM leadership_check_started
  WHERE
    NOT slot IS NULL
  GROUP BY
    host
), middle AS (
  SELECT
    QUANTILE_DISC(late, 0.5) AS lower_late,
    -QUANTILE_DISC(-late, 0.5) AS upper_late
  FROM hosts
)
SELECT
  hosts.host,
  hosts.late,
  hosts.late - CASE
    WHEN ABS(middle.lower_late) <= ABS(middle.upper_late)
    THEN middle.lower_late
    ELSE middle.upper_late
  END AS apart
FROM hosts
CROSS JOIN middle;
