WITH samples_1 AS (
  SELECT
    job,
    instance,
    device,
    t_ns,
    value
  FROM written
  WHERE
    NOT value IS NULL
), crowded AS (
  SELECT
    job,
    instance,
    device,
    t_ns,
    COUNT(value) AS number
  FROM samples_1
  GROUP BY
    job,
    instance,
    device,
    t_ns
  HAVING
    COUNT(value) > 1
)
SELECT
  CONCAT_WS(', ', job, instance, device) AS line,
  MAX(number) AS values
FROM crowded
GROUP BY
  job,
  instance,
  device
ORDER BY
  job,
  instance,
  device;
