-- The experiments of a load report, in the order of their first blocks: exact sums of whole nanoseconds.
-- The first transaction of the first block is the one that was sent first.
WITH firsts AS (
    SELECT experiment_id, min(block_time) AS first_block
    FROM loaded
    GROUP BY experiment_id
),

sums AS (
    SELECT
        loaded.experiment_id,
        firsts.first_block,
        max(loaded.block_time) AS last_block,
        min(CASE WHEN loaded.block_time = firsts.first_block THEN loaded.block_time - loaded.duration_ns END) AS first_sent,
        max(loaded.connections) AS connections,
        max(loaded.rate) AS rate,
        max(loaded.size) AS size,
        count(*) AS valid_txs,
        count(*) FILTER (WHERE loaded.duration_ns < 0) AS negative_latencies,
        min(loaded.duration_ns) AS latency_min,
        max(loaded.duration_ns) AS latency_max,
        sum(loaded.duration_ns)::HUGEINT AS total,
        sum(loaded.duration_ns::HUGEINT * loaded.duration_ns) AS squares
    FROM loaded
    INNER JOIN firsts ON firsts.experiment_id = loaded.experiment_id
    GROUP BY loaded.experiment_id, firsts.first_block
)

SELECT
    experiment_id,
    row_number() OVER (ORDER BY first_block, experiment_id) AS number,
    connections,
    rate,
    size,
    valid_txs,
    negative_latencies,
    latency_min,
    latency_max,
    (total // valid_txs)::BIGINT AS latency_avg,
    CASE
        WHEN valid_txs > 1
        THEN floor(sqrt((valid_txs * squares - total * total)::DOUBLE / (valid_txs::HUGEINT * (valid_txs - 1))))::BIGINT
    END AS latency_stddev,
    first_sent,
    first_block,
    last_block,
    last_block - first_sent AS span,
    connections * rate * ($experiment_length - 1) AS expected_txs,
    first_sent // 1000000000 * 1000000000 AS from_ns,
    last_block // 1000000000 * 1000000000 AS to_ns
FROM sums
