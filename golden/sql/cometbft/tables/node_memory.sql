CREATE TEMPORARY TABLE node_memory AS
WITH steps AS (
  SELECT
    name,
    UNNEST(RANGE(from_ns, to_ns + 1, 1000000000)) AS t_ns
  FROM windows
), samples_1 AS (
  SELECT
    job,
    instance,
    t_ns,
    value
  FROM resident
  WHERE
    NOT REGEXP_FULL_MATCH(job, '.*exporter.*|prometheus')
), samples_1_lines AS (
  SELECT DISTINCT
    job,
    instance
  FROM samples_1
), samples_1_grid AS (
  SELECT
    steps.name,
    steps.t_ns,
    samples_1_lines.job,
    samples_1_lines.instance
  FROM steps
  CROSS JOIN samples_1_lines
), samples_1_latest AS (
  SELECT
    samples_1_grid.name,
    samples_1_grid.job,
    samples_1_grid.instance,
    samples_1_grid.t_ns,
    samples_1.t_ns AS sampled_ns,
    samples_1.value
  FROM samples_1_grid
  ASOF JOIN samples_1
    ON samples_1.job = samples_1_grid.job
    AND samples_1.instance = samples_1_grid.instance
    AND samples_1.t_ns <= samples_1_grid.t_ns
), samples_1_latest_beats AS (
  SELECT
    job,
    instance,
    t_ns,
    t_ns - LAG(t_ns) OVER (PARTITION BY job, instance ORDER BY t_ns) AS gap
  FROM up
), samples_1_latest_ceased AS (
  SELECT
    job,
    instance,
    MAX(t_ns) + CAST(MEDIAN(gap) AS BIGINT) AS t_ns
  FROM samples_1_latest_beats
  GROUP BY
    job,
    instance
  HAVING
    MAX(t_ns) + CAST(MEDIAN(gap) AS BIGINT) + CAST(MEDIAN(gap) AS BIGINT) <= (
      SELECT
        MAX(t_ns)
      FROM samples_1_latest_beats
    )
), samples_1_latest_ends AS (
  SELECT
    job,
    instance,
    t_ns
  FROM up
  WHERE
    value = 0
  UNION ALL
  SELECT
    job,
    instance,
    t_ns
  FROM samples_1_latest_ceased
), samples_1_latest_ended AS (
  SELECT
    samples_1_latest.name,
    samples_1_latest.job,
    samples_1_latest.instance,
    samples_1_latest.t_ns,
    samples_1_latest.sampled_ns,
    samples_1_latest.value,
    samples_1_latest_ends.t_ns AS ended
  FROM samples_1_latest
  ASOF LEFT JOIN samples_1_latest_ends
    ON samples_1_latest_ends.job = samples_1_latest.job
    AND samples_1_latest_ends.instance = samples_1_latest.instance
    AND samples_1_latest_ends.t_ns <= samples_1_latest.t_ns
), read_1 AS (
  SELECT
    name,
    job,
    instance,
    t_ns,
    value
  FROM samples_1_latest_ended
  WHERE
    sampled_ns >= t_ns - 300000000000
    AND NOT value IS NULL
    AND (
      ended IS NULL OR ended <= sampled_ns
    )
)
SELECT
  name,
  job,
  instance,
  t_ns,
  value AS value
FROM read_1;
