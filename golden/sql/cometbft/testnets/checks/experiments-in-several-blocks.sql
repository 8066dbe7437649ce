/* Transactions that are in several blocks of an experiment: 0.34 may include a transaction again. */
SELECT
  experiment_id,
  COUNT(*) AS transactions,
  MAX(times) AS times,
  MIN(tx_hash) AS example
FROM (
  SELECT
    experiment_id,
    tx_hash,
    COUNT(DISTINCT block_time) AS times
  FROM loaded
  WHERE
    NOT tx_hash IS NULL
  GROUP BY
    experiment_id,
    tx_hash
  HAVING
    COUNT(DISTINCT block_time) > 1
)
GROUP BY
  experiment_id
ORDER BY
  experiment_id;
