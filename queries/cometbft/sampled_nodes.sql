-- What the samples of each node say over the time of all experiments, at each second. NaN and infinity count nothing.
WITH peers AS (
    SELECT job, instance, min(value)::BIGINT AS least_peers, max(value)::BIGINT AS most_peers
    FROM peer_count
    WHERE isfinite(value)
    GROUP BY job, instance
),

rounds AS (
    SELECT job, instance, max(value)::BIGINT AS highest_round
    FROM round_count
    WHERE isfinite(value)
    GROUP BY job, instance
),

blocks AS (
    SELECT job, instance, avg(value ORDER BY t_ns, value) AS block_rate
    FROM block_rate
    WHERE isfinite(value)
    GROUP BY job, instance
),

mempools AS (
    SELECT job, instance, avg(value ORDER BY t_ns, value) AS mempool_size
    FROM mempool_size
    WHERE isfinite(value)
    GROUP BY job, instance
),

memories AS (
    SELECT job, instance, max(value)::BIGINT AS most_memory
    FROM node_memory
    WHERE isfinite(value)
    GROUP BY job, instance
)

SELECT
    peers.job,
    peers.instance,
    peers.least_peers,
    peers.most_peers,
    rounds.highest_round,
    blocks.block_rate,
    mempools.mempool_size,
    memories.most_memory
FROM peers
LEFT JOIN rounds ON rounds.job = peers.job AND rounds.instance = peers.instance
LEFT JOIN blocks ON blocks.job = peers.job AND blocks.instance = peers.instance
LEFT JOIN mempools ON mempools.job = peers.job AND mempools.instance = peers.instance
LEFT JOIN memories ON memories.job = peers.job AND memories.instance = peers.instance
