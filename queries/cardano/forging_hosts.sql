-- The blocks of each host: how many it forged, how many of them are on the main chain, and how many of those the
-- filters accept.
WITH counts AS (
    SELECT
        blocks.host,
        count(*) AS total,
        count(block.block) AS chained,
        count(CASE WHEN block.accepted THEN 1 END) AS filtered
    FROM blocks
    LEFT JOIN block ON block.block = blocks.block
    WHERE blocks.role = 'forger'
    GROUP BY blocks.host
)

SELECT
    logs.host,
    coalesce(counts.total, 0) AS total,
    coalesce(counts.chained, 0) AS chained,
    coalesce(counts.filtered, 0) AS filtered
FROM logs
LEFT JOIN counts ON counts.host = logs.host
