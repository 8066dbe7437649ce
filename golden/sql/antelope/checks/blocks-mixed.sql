/* Logs of several versions: some lines have the resource usage of the block, others do not. */
SELECT
  MAX(host) AS host,
  COUNT(*) AS blocks,
  COUNT(net) AS complete
FROM blocks
HAVING
  COUNT(net) BETWEEN 1 AND COUNT(*) - 1;
