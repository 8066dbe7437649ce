WITH samples_1 AS (
  SELECT
    job,
    instance,
    block_type,
    t_ns,
    value
  FROM block_cpu
  WHERE
    NOT value IS NULL
), crowded AS (
  SELECT
    job,
    instance,
    block_type,
    t_ns,
    COUNT(value) AS number
  FROM samples_1
  GROUP BY
    job,
    instance,
    block_type,
    t_ns
  HAVING
    COUNT(value) > 1
)
SELECT
  CONCAT_WS(', ', job, instance, block_type) AS line,
  MAX(number) AS values
FROM crowded
GROUP BY
  job,
  instance,
  block_type
ORDER BY
  job,
  instance,
  block_type;
