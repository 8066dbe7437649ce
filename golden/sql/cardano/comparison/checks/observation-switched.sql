/* Blocks of the main chain that became the tip of a host's chain as the host switched to another fork. Such a switch is no */
/* adoption to the metrics, as it is none to the analyser whose numbers were published. */
SELECT
  COUNT(*) AS switches,
  CASE COUNT(DISTINCT observation.host)
    WHEN 1
    THEN 'one host'
    ELSE COUNT(DISTINCT observation.host) || ' hosts'
  END AS hosts,
  LISTAGG(DISTINCT observation.host, ', '
  ORDER BY
    observation.host) AS names
FROM observation
SEMI JOIN fork_switched
  ON fork_switched.host = observation.host AND fork_switched.block = observation.block
WHERE
  observation.adopted IS NULL
HAVING
  COUNT(*) > 0;
