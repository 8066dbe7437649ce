-- The state drive, if no point is of it.
SELECT
    $state_device AS device,
    string_agg(DISTINCT device, ', ' ORDER BY device) AS devices
FROM disk_point
HAVING count(*) > 0 AND count(*) FILTER (WHERE device = $state_device) = 0
