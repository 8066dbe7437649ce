-- `$name` stands for a constant of the run; constants.json has the values.
CREATE TEMPORARY TABLE experiments AS
/* The experiments of a load report, in the order of their first blocks: exact sums of whole nanoseconds. */
/* The first transaction of the first block is the one that was sent first. */
WITH firsts AS (
  SELECT
    experiment_id,
    MIN(block_time) AS first_block
  FROM loaded
  GROUP BY
    experiment_id
), sums AS (
  SELECT
    loaded.experiment_id,
    firsts.first_block,
    MAX(loaded.block_time) AS last_block,
    MIN(
      CASE
        WHEN loaded.block_time = firsts.first_block
        THEN loaded.block_time - loaded.duration_ns
      END
    ) AS first_sent,
    MAX(loaded.connections) AS connections,
    MAX(loaded.rate) AS rate,
    MAX(loaded.size) AS size,
    COUNT(*) AS valid_txs,
    COUNT(*) FILTER(WHERE
      loaded.duration_ns < 0) AS negative_latencies,
    MIN(loaded.duration_ns) AS latency_min,
    MAX(loaded.duration_ns) AS latency_max,
    CAST(SUM(loaded.duration_ns) AS INT128) AS total,
    SUM(CAST(loaded.duration_ns AS INT128) * loaded.duration_ns) AS squares
  FROM loaded
  INNER JOIN firsts
    ON firsts.experiment_id = loaded.experiment_id
  GROUP BY
    loaded.experiment_id,
    firsts.first_block
)
SELECT
  experiment_id,
  ROW_NUMBER() OVER (ORDER BY first_block, experiment_id) AS number,
  connections,
  rate,
  size,
  valid_txs,
  negative_latencies,
  latency_min,
  latency_max,
  CAST((
    total // valid_txs
  ) AS BIGINT) AS latency_avg,
  CASE
    WHEN valid_txs > 1
    THEN CAST(FLOOR(
      SQRT(
        CAST((
          valid_txs * squares - total * total
        ) AS DOUBLE) / (
          CAST(valid_txs AS INT128) * (
            valid_txs - 1
          )
        )
      )
    ) AS BIGINT)
  END AS latency_stddev,
  first_sent,
  first_block,
  last_block,
  last_block - first_sent AS span,
  connections * rate * (
    $experiment_length - 1
  ) AS expected_txs,
  first_sent // 1000000000 * 1000000000 AS from_ns,
  last_block // 1000000000 * 1000000000 AS to_ns
FROM sums;
