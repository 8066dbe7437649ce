/* Hosts without a recognised event. */
SELECT
  host,
  lines,
  objects
FROM logs
WHERE
  recognised = 0
ORDER BY
  host;
