-- Pairs of adjacent blocks: each block covers half a second, so a pair has the transactions of one second. With a
-- single block in the window, that block counts alone.
WITH followed AS (
    SELECT
        host,
        place,
        number,
        since_start,
        transactions,
        lead(transactions) OVER (ORDER BY place) AS following,
        count(*) OVER () AS size
    FROM window_blocks
)

SELECT
    host,
    place,
    number,
    since_start,
    transactions + coalesce(following, 0) AS tps,
    transactions = 0 AS empty
FROM followed
WHERE following IS NOT NULL OR size = 1
