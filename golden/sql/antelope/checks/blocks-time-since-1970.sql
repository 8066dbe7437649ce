/* Blocks whose time is that since 1970. */
SELECT
  host,
  COUNT(*) AS blocks
FROM block
WHERE
  time_taken >= 1000000000000
GROUP BY
  host;
