-- Steps with records that differ, and the columns in which they differ.
WITH differences AS (
    SELECT
        t_ns,
        concat_ws(
            ', ',
            CASE WHEN count(DISTINCT cpu) > 1 THEN 'cpu' END,
            CASE WHEN count(DISTINCT maxcpu) > 1 THEN 'maxcpu' END,
            CASE WHEN count(DISTINCT mem) > 1 THEN 'mem' END,
            CASE WHEN count(DISTINCT maxmem) > 1 THEN 'maxmem' END,
            CASE WHEN count(DISTINCT diskread) > 1 THEN 'diskread' END,
            CASE WHEN count(DISTINCT diskwrite) > 1 THEN 'diskwrite' END,
            CASE WHEN count(DISTINCT netin) > 1 THEN 'netin' END,
            CASE WHEN count(DISTINCT netout) > 1 THEN 'netout' END
        ) AS fields
    FROM machine
    GROUP BY t_ns
)

SELECT
    count(*) AS steps,
    strftime(make_timestamp_ns(min(t_ns)), '%Y-%m-%d %H:%M:%S') AS instant,
    arg_min(fields, t_ns) AS fields
FROM differences
WHERE fields <> ''
HAVING count(*) > 0
