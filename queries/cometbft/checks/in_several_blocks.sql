-- Transactions that are in several blocks of an experiment: 0.34 may include a transaction again.
SELECT experiment_id, count(*) AS transactions, max(times) AS times, min(tx_hash) AS example
FROM (
    SELECT experiment_id, tx_hash, count(DISTINCT block_time) AS times
    FROM loaded
    WHERE tx_hash IS NOT NULL
    GROUP BY experiment_id, tx_hash
    HAVING count(DISTINCT block_time) > 1
)
GROUP BY experiment_id
ORDER BY experiment_id
