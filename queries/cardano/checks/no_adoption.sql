-- Hosts whose forge loop runs, but which neither forge a block nor adopt one.
WITH active AS (
    SELECT host FROM block_forged
    UNION
    SELECT host FROM block_adopted
    UNION
    SELECT host FROM fork_switched
),

idle AS (
    SELECT DISTINCT leadership_check_started.host
    FROM leadership_check_started
    ANTI JOIN active ON active.host = leadership_check_started.host
)

SELECT
    count(*) AS number,
    string_agg(host, ', ' ORDER BY host) AS hosts
FROM idle
HAVING count(*) > 0
