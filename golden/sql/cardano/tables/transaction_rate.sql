CREATE TEMPORARY TABLE transaction_rate AS
WITH samples_1 AS (
  SELECT
    t_ns,
    CAST((
      accepted
    ) AS DOUBLE) AS value
  FROM txs_processed
), samples_1_placed AS (
  SELECT
    run_time.from_ns + (
      (
        samples_1.t_ns - run_time.from_ns
      ) // 10000000000
    ) * 10000000000 AS t_ns,
    samples_1.value
  FROM samples_1
  JOIN run_time
    ON samples_1.t_ns BETWEEN run_time.from_ns AND run_time.to_ns
), samples_1_sums AS (
  SELECT
    t_ns,
    LIST_AGGREGATE(LIST(value ORDER BY value), 'fsum') AS value
  FROM samples_1_placed
  GROUP BY
    t_ns
), steps AS (
  SELECT
    UNNEST(RANGE(from_ns, to_ns + 1, 10000000000)) AS t_ns
  FROM run_time
), samples_1_grid AS (
  SELECT
    t_ns
  FROM steps
), samples_1_filled AS (
  SELECT
    samples_1_grid.t_ns,
    COALESCE(samples_1_sums.value, CAST(0 AS DOUBLE)) AS value
  FROM samples_1_grid
  LEFT JOIN samples_1_sums
    ON samples_1_sums.t_ns = samples_1_grid.t_ns
), read_1 AS (
  SELECT
    t_ns,
    value
  FROM samples_1_filled
  WHERE
    NOT value IS NULL
    AND EXISTS(
      SELECT
        1
      FROM run_time
      WHERE
        samples_1_filled.t_ns + 10000000000 - 1 <= run_time.to_ns
    )
)
SELECT
  t_ns,
  value / (
    CAST(10000000000 AS DOUBLE) / 1000000000
  ) AS value
FROM read_1;
