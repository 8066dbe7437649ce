-- Transactions that occur several times in one block of an experiment, usually because of a copy of the report.
SELECT experiment_id, count(*) AS transactions, max(times) AS times, min(tx_hash) AS example
FROM (
    SELECT experiment_id, tx_hash, count(*) AS times
    FROM loaded
    WHERE tx_hash IS NOT NULL
    GROUP BY experiment_id, tx_hash, block_time
    HAVING count(*) > 1
)
GROUP BY experiment_id
ORDER BY experiment_id
