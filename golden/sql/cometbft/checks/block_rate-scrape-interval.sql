WITH samples_1 AS (
  SELECT
    job,
    instance,
    t_ns,
    value
  FROM height
  WHERE
    NOT value IS NULL
), gaps AS (
  SELECT
    job,
    instance,
    t_ns - LAG(t_ns) OVER (PARTITION BY job, instance ORDER BY t_ns) AS gap
  FROM samples_1
)
SELECT
  CONCAT_WS(', ', job, instance) AS line,
  MEDIAN(gap) / 1000000000 AS interval,
  CAST(20.0 AS DOUBLE) AS "window"
FROM gaps
GROUP BY
  job,
  instance
HAVING
  MEDIAN(gap) > 20000000000
ORDER BY
  job,
  instance;
