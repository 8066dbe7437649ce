-- Blocks of the main chain that became the tip of a host's chain as the host switched to another fork. Such a switch is no
-- adoption to the metrics, as it is none to the analyser whose numbers were published.
SELECT
    count(*) AS switches,
    CASE count(DISTINCT observation.host) WHEN 1 THEN 'one host' ELSE count(DISTINCT observation.host) || ' hosts' END AS hosts,
    string_agg(DISTINCT observation.host, ', ' ORDER BY observation.host) AS names
FROM observation
SEMI JOIN fork_switched
    ON fork_switched.host = observation.host AND fork_switched.block = observation.block
WHERE observation.adopted IS NULL
HAVING count(*) > 0
