WITH samples_1 AS (
  SELECT
    job,
    instance,
    cpu,
    t_ns,
    value
  FROM cpu_seconds
  WHERE
    NOT value IS NULL AND mode = 'idle'
), crowded AS (
  SELECT
    job,
    instance,
    cpu,
    t_ns,
    COUNT(value) AS number
  FROM samples_1
  GROUP BY
    job,
    instance,
    cpu,
    t_ns
  HAVING
    COUNT(value) > 1
)
SELECT
  CONCAT_WS(', ', job, instance, cpu) AS line,
  MAX(number) AS values
FROM crowded
GROUP BY
  job,
  instance,
  cpu
ORDER BY
  job,
  instance,
  cpu;
