-- The mean rate of each drive: compensated sums in ascending order, so that the result does not depend on threads.
SELECT
    instance,
    device,
    list_aggregate(list(value ORDER BY value), 'fsum') / count(*) AS write_rate
FROM disk_write_rates
GROUP BY instance, device
