-- Totals of each node, from its log.
WITH blocks AS (
    SELECT
        node,
        min(height) AS first_height,
        max(height) AS last_height,
        count(*) AS blocks,
        count(*) FILTER (WHERE NOT in_consensus) AS blocks_caught_up,
        (sum(block_interval)::HUGEINT // count(block_interval))::BIGINT AS interval_avg,
        max(block_interval) AS interval_max
    FROM node_blocks
    GROUP BY node
),

executed AS (
    SELECT host, sum(transactions)::BIGINT AS transactions
    FROM (SELECT host, height, arg_min(transactions, seq) AS transactions FROM finalized GROUP BY host, height)
    GROUP BY host
),

starts AS (SELECT host, count(*) AS starts FROM started GROUP BY host),

proposals AS (SELECT host, count(*) AS proposals FROM proposed GROUP BY host),

complaints AS (SELECT host, count(*) AS complaints FROM complained GROUP BY host),

catches AS (
    SELECT caught_up.host, caught_up.seq, caught_up.t_ns - max(started.t_ns) AS catching_up
    FROM caught_up
    INNER JOIN started ON started.host = caught_up.host AND started.seq < caught_up.seq
    GROUP BY caught_up.host, caught_up.seq, caught_up.t_ns
),

longest AS (SELECT host, max(catching_up) AS catching_up FROM catches GROUP BY host)

SELECT
    logs.host AS node,
    coalesce(starts.starts, 0) AS starts,
    blocks.first_height,
    blocks.last_height,
    coalesce(blocks.blocks, 0) AS blocks,
    coalesce(blocks.blocks_caught_up, 0) AS blocks_caught_up,
    executed.transactions,
    blocks.interval_avg,
    blocks.interval_max,
    longest.catching_up,
    coalesce(proposals.proposals, 0) AS proposals,
    coalesce(complaints.complaints, 0) AS complaints
FROM logs
LEFT JOIN blocks ON blocks.node = logs.host
LEFT JOIN executed ON executed.host = logs.host
LEFT JOIN starts ON starts.host = logs.host
LEFT JOIN proposals ON proposals.host = logs.host
LEFT JOIN complaints ON complaints.host = logs.host
LEFT JOIN longest ON longest.host = logs.host
WHERE logs.host <> '' AND logs.objects > 0
