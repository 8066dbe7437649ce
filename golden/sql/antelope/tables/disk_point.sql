-- `$name` stands for a constant of the run; constants.json has the values.
CREATE TEMPORARY TABLE disk_point AS
SELECT
  base.*,
  TRUE AS accepted
FROM disk_point_rows AS base
WHERE
  base.t_ns >= $phase_since AND base.t_ns < $phase_until;
