CREATE TEMPORARY TABLE heights AS
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
  FROM height
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
), samples_2 AS (
  SELECT
    job,
    instance,
    t_ns,
    value
  FROM synced_height
), samples_2_lines AS (
  SELECT DISTINCT
    job,
    instance
  FROM samples_2
), samples_2_grid AS (
  SELECT
    steps.name,
    steps.t_ns,
    samples_2_lines.job,
    samples_2_lines.instance
  FROM steps
  CROSS JOIN samples_2_lines
), samples_2_latest AS (
  SELECT
    samples_2_grid.name,
    samples_2_grid.job,
    samples_2_grid.instance,
    samples_2_grid.t_ns,
    samples_2.t_ns AS sampled_ns,
    samples_2.value
  FROM samples_2_grid
  ASOF JOIN samples_2
    ON samples_2.job = samples_2_grid.job
    AND samples_2.instance = samples_2_grid.instance
    AND samples_2.t_ns <= samples_2_grid.t_ns
), samples_2_latest_beats AS (
  SELECT
    job,
    instance,
    t_ns,
    t_ns - LAG(t_ns) OVER (PARTITION BY job, instance ORDER BY t_ns) AS gap
  FROM up
), samples_2_latest_ceased AS (
  SELECT
    job,
    instance,
    MAX(t_ns) + CAST(MEDIAN(gap) AS BIGINT) AS t_ns
  FROM samples_2_latest_beats
  GROUP BY
    job,
    instance
  HAVING
    MAX(t_ns) + CAST(MEDIAN(gap) AS BIGINT) + CAST(MEDIAN(gap) AS BIGINT) <= (
      SELECT
        MAX(t_ns)
      FROM samples_2_latest_beats
    )
), samples_2_latest_ends AS (
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
  FROM samples_2_latest_ceased
), samples_2_latest_ended AS (
  SELECT
    samples_2_latest.name,
    samples_2_latest.job,
    samples_2_latest.instance,
    samples_2_latest.t_ns,
    samples_2_latest.sampled_ns,
    samples_2_latest.value,
    samples_2_latest_ends.t_ns AS ended
  FROM samples_2_latest
  ASOF LEFT JOIN samples_2_latest_ends
    ON samples_2_latest_ends.job = samples_2_latest.job
    AND samples_2_latest_ends.instance = samples_2_latest.instance
    AND samples_2_latest_ends.t_ns <= samples_2_latest.t_ns
), read_2 AS (
  SELECT
    name,
    job,
    instance,
    t_ns,
    value
  FROM samples_2_latest_ended
  WHERE
    sampled_ns >= t_ns - 300000000000
    AND NOT value IS NULL
    AND (
      ended IS NULL OR ended <= sampled_ns
    )
), known_1 AS (
  SELECT
    name,
    job,
    instance,
    t_ns,
    value
  FROM (
    SELECT
      name,
      job,
      instance,
      t_ns,
      value
    FROM read_1
    UNION ALL
    SELECT
      read_2.name,
      read_2.job,
      read_2.instance,
      read_2.t_ns,
      read_2.value
    FROM read_2
    ANTI JOIN read_1
      ON read_1.name = read_2.name
      AND read_1.job = read_2.job
      AND read_1.instance = read_2.instance
      AND read_1.t_ns = read_2.t_ns
  ) AS "both"
)
SELECT
  name,
  job,
  instance,
  t_ns,
  value AS value
FROM known_1;
