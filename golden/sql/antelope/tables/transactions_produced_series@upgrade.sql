-- `$name` stands for a constant of the run; constants.json has the values.
CREATE TEMPORARY TABLE transactions_produced_series AS
WITH steps AS (
  SELECT
    name,
    UNNEST(RANGE(from_ns, to_ns + 1, $step)) AS t_ns
  FROM sampled_time
), samples_1 AS (
  SELECT
    job,
    instance,
    t_ns,
    value
  FROM transactions_produced
  WHERE
    NOT value IS NULL
), samples_1_before AS (
  SELECT
    job,
    instance,
    t_ns,
    value,
    LAG(value) OVER (PARTITION BY job, instance ORDER BY t_ns) AS before
  FROM samples_1
), samples_1_inside AS (
  SELECT
    steps.name,
    samples_1_before.job,
    samples_1_before.instance,
    steps.t_ns AS step,
    samples_1_before.t_ns AS t_ns,
    samples_1_before.value,
    CASE
      WHEN (
        samples_1_before.value < samples_1_before.before
        AND NOT ISNAN(samples_1_before.before)
      )
      AND LAG(samples_1_before.t_ns) OVER (
        PARTITION BY steps.name, steps.t_ns, samples_1_before.job, samples_1_before.instance
        ORDER BY samples_1_before.t_ns
      ) >= steps.t_ns - $rate_window
      THEN samples_1_before.before
    END AS reset
  FROM samples_1_before
  JOIN steps
    ON samples_1_before.t_ns BETWEEN steps.t_ns - $rate_window AND steps.t_ns
), samples_1_sums AS (
  SELECT
    name,
    job,
    instance,
    step AS t_ns,
    COUNT(*) AS samples,
    MIN(t_ns) AS first_ns,
    MAX(t_ns) AS last_ns,
    ARG_MIN(value, t_ns) AS first_value,
    ARG_MAX(value, t_ns) AS last_value,
    COALESCE(
      MAX(CASE WHEN ISINF(reset) THEN reset END),
      FSUM(reset ORDER BY t_ns) FILTER(WHERE
        NOT reset IS NULL),
      CAST(0 AS DOUBLE)
    ) AS resets
  FROM samples_1_inside
  GROUP BY
    name,
    job,
    instance,
    step
), samples_1_spans AS (
  SELECT
    name,
    job,
    instance,
    t_ns,
    first_value,
    last_value - first_value + resets AS increase,
    CAST((
      last_ns - first_ns
    ) AS DOUBLE) AS span,
    CAST((
      last_ns - first_ns
    ) AS DOUBLE) / (
      samples - 1
    ) AS gap,
    CAST((
      first_ns - (
        t_ns - $rate_window
      )
    ) AS DOUBLE) AS lead,
    CAST((
      t_ns - last_ns
    ) AS DOUBLE) AS trail
  FROM samples_1_sums
  WHERE
    samples >= 2
), samples_1_ends AS (
  SELECT
    name,
    job,
    instance,
    t_ns,
    increase,
    span,
    CASE
      WHEN CASE
        WHEN increase > 0 AND first_value >= 0
        THEN LEAST(lead, span * (
          first_value / increase
        ))
        ELSE lead
      END < gap * CAST(1.1 AS DOUBLE)
      THEN CASE
        WHEN increase > 0 AND first_value >= 0
        THEN LEAST(lead, span * (
          first_value / increase
        ))
        ELSE lead
      END
      ELSE gap / 2
    END AS head,
    CASE WHEN trail < gap * CAST(1.1 AS DOUBLE) THEN trail ELSE gap / 2 END AS tail
  FROM samples_1_spans
  WHERE
    lead < gap * CAST(1.1 AS DOUBLE) AND trail < gap * CAST(1.1 AS DOUBLE)
), read_1 AS (
  SELECT
    name,
    job,
    instance,
    t_ns,
    (
      increase * (
        (
          span + head + tail
        ) / span
      )
    ) / (
      CAST($rate_window AS DOUBLE) / 1000000000
    ) AS value
  FROM samples_1_ends
)
SELECT
  name,
  job,
  instance,
  t_ns,
  value AS value
FROM read_1;
