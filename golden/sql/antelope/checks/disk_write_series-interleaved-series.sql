WITH samples_1 AS (
  SELECT
    job,
    instance,
    device,
    series,
    t_ns,
    value
  FROM written
  WHERE
    NOT value IS NULL
), samples_1_spans AS (
  SELECT
    job,
    instance,
    device,
    series,
    MIN(t_ns) AS first_ns,
    MAX(t_ns) AS last_ns
  FROM samples_1
  WHERE
    NOT value IS NULL
  GROUP BY
    job,
    instance,
    device,
    series
), met AS (
  SELECT
    job,
    instance,
    device,
    first_ns,
    MAX(last_ns) OVER (
      PARTITION BY job, instance, device
      ORDER BY first_ns, series
      ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    ) AS reached
  FROM samples_1_spans
)
SELECT
  CONCAT_WS(', ', job, instance, device) AS line
FROM met
WHERE
  reached >= first_ns
GROUP BY
  job,
  instance,
  device
ORDER BY
  job,
  instance,
  device;
