/* Transactions that occur several times in one block of an experiment, usually because of a copy of the report. */
SELECT
  experiment_id,
  COUNT(*) AS transactions,
  MAX(times) AS times,
  MIN(tx_hash) AS example
FROM (
  SELECT
    experiment_id,
    tx_hash,
    COUNT(*) AS times
  FROM loaded
  WHERE
    NOT tx_hash IS NULL
  GROUP BY
    experiment_id,
    tx_hash,
    block_time
  HAVING
    COUNT(*) > 1
)
GROUP BY
  experiment_id
ORDER BY
  experiment_id;
