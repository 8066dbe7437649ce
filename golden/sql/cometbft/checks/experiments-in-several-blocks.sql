/* Transactions that are in several blocks of an experiment: 0.34 may include a transaction again. */
/* In reports without hashes, the instant at which one was sent, in nanoseconds, tells it from others. */
SELECT
  experiment_id,
  COUNT(*) AS transactions,
  MAX(times) AS times,
  MIN(tx) AS example
FROM (
  SELECT
    experiment_id,
    tx,
    COUNT(DISTINCT block_time) AS times
  FROM (
    SELECT
      experiment_id,
      block_time,
      COALESCE(tx_hash, 'the one sent at ' || (
        block_time - duration_ns
      ) || ' ns') AS tx
    FROM loaded
  )
  GROUP BY
    experiment_id,
    tx
  HAVING
    COUNT(DISTINCT block_time) > 1
)
GROUP BY
  experiment_id;
