-- `$name` stands for a constant of the run; constants.json has the values.
/* The state drive, if no point is of it. */
SELECT
  $state_device AS device,
  LISTAGG(DISTINCT device, ', '
  ORDER BY
    device) AS devices
FROM disk_point
HAVING
  COUNT(*) > 0 AND COUNT(*) FILTER(WHERE
    device = $state_device) = 0;
