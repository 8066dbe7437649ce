-- `$name` stands for a constant of the run; constants.json has the values.
CREATE TEMPORARY TABLE slot_rows AS
SELECT
  base.*,
  COALESCE(starts.n, 0) AS starts
FROM slots AS base
LEFT JOIN (
  SELECT
    host,
    slot,
    COUNT(*) AS n
  FROM leadership_check_started
  WHERE
    t_ns >= $system_start
  GROUP BY
    host,
    slot
) AS starts
  ON starts.host = base.host AND starts.slot = base.slot;
