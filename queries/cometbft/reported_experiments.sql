-- The experiments of the load tool's own summaries, in the order in which they stand there.
SELECT
    experiment_id,
    row_number() OVER (ORDER BY host, seq) AS number,
    connections,
    rate,
    size,
    valid_txs,
    negative_latencies,
    latency_min,
    latency_max,
    latency_avg,
    latency_stddev,
    connections * rate * ($experiment_length - 1) AS expected_txs
FROM reported
