WITH samples_1 AS (
  SELECT
    job,
    instance,
    block_type,
    series,
    t_ns,
    value
  FROM block_cpu
  WHERE
    NOT value IS NULL
), samples_1_spans AS (
  SELECT
    job,
    instance,
    block_type,
    series,
    MIN(t_ns) AS first_ns,
    MAX(t_ns) AS last_ns
  FROM samples_1
  WHERE
    NOT value IS NULL
  GROUP BY
    job,
    instance,
    block_type,
    series
), met AS (
  SELECT
    job,
    instance,
    block_type,
    first_ns,
    MAX(last_ns) OVER (
      PARTITION BY job, instance, block_type
      ORDER BY first_ns, series
      ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    ) AS reached
  FROM samples_1_spans
)
SELECT
  CONCAT_WS(', ', job, instance, block_type) AS line
FROM met
WHERE
  reached >= first_ns
GROUP BY
  job,
  instance,
  block_type
ORDER BY
  job,
  instance,
  block_type;
