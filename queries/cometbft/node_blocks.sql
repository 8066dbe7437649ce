-- The blocks that each node committed. A node is in consensus from the time that it caught up until its next start; a
-- log that begins later counts as in consensus. The interval is the time since the previous block, both committed in
-- consensus.
WITH marks AS (
    SELECT host, seq, t_ns, NULL::BIGINT AS height, FALSE AS joins FROM started
    UNION ALL
    SELECT host, seq, t_ns, NULL, TRUE FROM caught_up
    UNION ALL
    SELECT host, seq, t_ns, height, NULL FROM committed
),

placed AS (
    SELECT
        host,
        seq,
        t_ns,
        height,
        coalesce(last_value(joins IGNORE NULLS) OVER (PARTITION BY host ORDER BY seq), TRUE) AS in_consensus
    FROM marks
),

firsts AS (
    SELECT host, height, arg_min(t_ns, seq) AS committed_at, arg_min(in_consensus, seq) AS in_consensus
    FROM placed
    WHERE height IS NOT NULL
    GROUP BY host, height
),

followed AS (
    SELECT
        *,
        lag(height) OVER (PARTITION BY host ORDER BY height) AS height_before,
        lag(committed_at) OVER (PARTITION BY host ORDER BY height) AS committed_before,
        lag(in_consensus) OVER (PARTITION BY host ORDER BY height) AS in_consensus_before
    FROM firsts
)

SELECT
    host AS node,
    height,
    committed_at,
    in_consensus,
    CASE
        WHEN in_consensus AND in_consensus_before AND height_before = height - 1
        THEN committed_at - committed_before
    END AS block_interval
FROM followed
