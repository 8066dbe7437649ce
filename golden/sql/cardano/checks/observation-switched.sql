/* Blocks of the main chain that became the tip of a host's chain by a switch to another fork. Metrics do not count such */
/* a switch as an adoption, like the analyser whose numbers were published. */
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
