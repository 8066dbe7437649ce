-- What became of the blocks of each host: how many it made, how many are on the main chain, how many of these the
-- filters let pass.
WITH made AS (
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
    coalesce(made.total, 0) AS total,
    coalesce(made.chained, 0) AS chained,
    coalesce(made.filtered, 0) AS filtered
FROM logs
LEFT JOIN made ON made.host = logs.host
