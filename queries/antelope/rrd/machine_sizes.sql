-- The sizes of the machine (cores and memory), and the steps with each.
SELECT
    cores,
    maxmem,
    min(t_ns) AS first_step,
    max(t_ns) AS last_step,
    count(*) AS steps
FROM readings
WHERE cores IS NOT NULL AND maxmem IS NOT NULL
GROUP BY cores, maxmem
