-- `$name` stands for a constant of the run; constants.json has the values.
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
), gaps AS (
  SELECT
    job,
    instance,
    block_type,
    t_ns - LAG(t_ns) OVER (PARTITION BY job, instance, block_type ORDER BY t_ns) AS gap
  FROM samples_1
)
SELECT
  CONCAT_WS(', ', job, instance, block_type) AS line,
  MEDIAN(gap) / 1000000000 AS interval,
  (
    CAST($rate_window AS DOUBLE) / 1000000000
  ) AS "window"
FROM gaps
GROUP BY
  job,
  instance,
  block_type
HAVING
  MEDIAN(gap) > $rate_window
ORDER BY
  job,
  instance,
  block_type;
