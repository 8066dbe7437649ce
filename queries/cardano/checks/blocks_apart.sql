-- Hosts whose first records of blocks differ from those of the other hosts by 1 s or more in the median of the blocks,
-- although their leadership checks do not: a node with a wrong clock checks at the start of slots by that clock.
WITH records AS (
    SELECT host, block, t_ns, slot FROM header_seen
    UNION ALL
    SELECT host, block, t_ns, slot FROM block_forged
),

first_records AS (
    SELECT host, block, min(t_ns - ($system_start + slot * $slot_length)) AS late
    FROM records
    GROUP BY host, block
),

hosts AS (
    SELECT host, quantile_disc(late, 0.5) AS late, count(*) AS blocks
    FROM first_records
    GROUP BY host
),

middle AS (
    SELECT quantile_disc(late, 0.5) AS lower_late, -quantile_disc(-late, 0.5) AS upper_late
    FROM hosts
),

distances AS (
    SELECT
        hosts.host,
        hosts.blocks,
        hosts.late - CASE
            WHEN abs(middle.lower_late) <= abs(middle.upper_late) THEN middle.lower_late
            ELSE middle.upper_late
        END AS apart
    FROM hosts
    CROSS JOIN middle
)

SELECT
    distances.host,
    distances.blocks,
    (abs(distances.apart) + 50000000) // 1000000000 || '.' || (abs(distances.apart) + 50000000) // 100000000 % 10
    || CASE WHEN distances.apart > 0 THEN ' s ahead of' ELSE ' s behind' END AS distance
FROM distances
LEFT JOIN clocks ON clocks.host = distances.host
WHERE abs(distances.apart) >= 1000000000 AND coalesce(abs(clocks.apart), 0) < 100000000
ORDER BY abs(distances.apart) DESC, distances.host
