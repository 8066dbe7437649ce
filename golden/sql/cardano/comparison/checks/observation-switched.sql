/* Blocks of the main chain that became the tip of a host's chain as the host switched to another fork. Such a switch is no */
/* adoption to the metrics, as it is none to the analyser whose numbers were published. */
SELECT
  CASE COUNT(*)
    WHEN 1
    THEN 'one adoption of a block'
    ELSE COUNT(*) || ' adoptions of blocks'
  END AS adoptions,
  LISTAGG(DISTINCT observation.host, ', '
  ORDER BY
    observation.host) AS hosts
FROM observation
SEMI JOIN fork_switched
  ON fork_switched.host = observation.host AND fork_switched.block = observation.block
WHERE
  observation.adopted IS NULL
HAVING
  COUNT(*) > 0;
