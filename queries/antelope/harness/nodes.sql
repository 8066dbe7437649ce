-- For each node: received and produced blocks, fork switches, dropped blocks.
WITH counts AS (
    SELECT
        host,
        count(*) FILTER (WHERE origin = 'received') AS received,
        count(*) FILTER (WHERE origin = 'produced') AS produced
    FROM block
    GROUP BY host
),

switches AS (
    SELECT
        host,
        count(*) AS forks,
        string_agg((from_number - to_number + 1)::TEXT, ', ' ORDER BY seq) AS forked_blocks
    FROM forked
    GROUP BY host
),

drops AS (
    SELECT host, count(*) AS dropped, string_agg(number::TEXT, ', ' ORDER BY seq) AS dropped_blocks
    FROM dropped
    GROUP BY host
)

SELECT
    logs.host,
    coalesce(counts.received, 0) AS received,
    coalesce(counts.produced, 0) AS produced,
    coalesce(switches.forks, 0) AS forks,
    coalesce(switches.forked_blocks, '') AS forked_blocks,
    coalesce(drops.dropped, 0) AS dropped,
    coalesce(drops.dropped_blocks, '') AS dropped_blocks
FROM logs
LEFT JOIN counts ON counts.host = logs.host
LEFT JOIN switches ON switches.host = logs.host
LEFT JOIN drops ON drops.host = logs.host
WHERE logs.host <> ''
