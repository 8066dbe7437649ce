WITH samples_1 AS (
  SELECT
    job,
    instance,
    t_ns,
    value
  FROM head_block
), crowded AS (
  SELECT
    job,
    instance,
    t_ns,
    COUNT(value) AS number
  FROM samples_1
  GROUP BY
    job,
    instance,
    t_ns
  HAVING
    COUNT(value) > 1
)
SELECT
  CONCAT_WS(', ', job, instance) AS line,
  MAX(number) AS values
FROM crowded
GROUP BY
  job,
  instance
ORDER BY
  job,
  instance;
