CREATE TEMPORARY TABLE mempool_by_host AS
WITH samples_1 AS (
  SELECT
    host,
    t_ns,
    CAST((
      mempool_txs
    ) AS DOUBLE) AS value
  FROM mempool_size
), samples_1_placed AS (
  SELECT
    samples_1.host,
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
    host,
    t_ns,
    LIST_AGGREGATE(LIST(value ORDER BY value), 'fsum') / COUNT(value) AS value
  FROM samples_1_placed
  GROUP BY
    host,
    t_ns
), read_1 AS (
  SELECT
    host,
    t_ns,
    value
  FROM samples_1_sums
  WHERE
    NOT value IS NULL
)
SELECT
  host,
  t_ns,
  value AS value
FROM read_1;
