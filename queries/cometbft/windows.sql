-- The window of time series: all experiments, from the whole second at which the first began to that of the last block.
SELECT
    'all experiments' AS name,
    min(first_sent) // 1000000000 * 1000000000 AS from_ns,
    max(last_block) // 1000000000 * 1000000000 AS to_ns
FROM experiments
HAVING count(*) > 0
