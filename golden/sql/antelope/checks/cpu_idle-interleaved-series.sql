WITH samples_1 AS (
  SELECT
    job,
    instance,
    cpu,
    series,
    t_ns,
    value
  FROM cpu_seconds
  WHERE
    NOT value IS NULL AND mode = 'idle'
), samples_1_spans AS (
  SELECT
    job,
    instance,
    cpu,
    series,
    MIN(t_ns) AS first_ns,
    MAX(t_ns) AS last_ns
  FROM samples_1
  WHERE
    NOT value IS NULL
  GROUP BY
    job,
    instance,
    cpu,
    series
), met AS (
  SELECT
    job,
    instance,
    cpu,
    first_ns,
    MAX(last_ns) OVER (
      PARTITION BY job, instance, cpu
      ORDER BY first_ns, series
      ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    ) AS reached
  FROM samples_1_spans
)
SELECT
  CONCAT_WS(', ', job, instance, cpu) AS line
FROM met
WHERE
  reached >= first_ns
GROUP BY
  job,
  instance,
  cpu
ORDER BY
  job,
  instance,
  cpu;
