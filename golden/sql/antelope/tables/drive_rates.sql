CREATE TEMPORARY TABLE drive_rates AS
/* The mean rate of each drive: compensated sums in ascending order, so that the result does not depend on threads. */
SELECT
  instance,
  device,
  LIST_AGGREGATE(ARRAY_AGG(value ORDER BY value), 'fsum') / COUNT(*) AS write_rate
FROM disk_write_rates
GROUP BY
  instance,
  device;
