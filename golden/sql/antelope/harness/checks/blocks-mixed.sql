/* Lines of several versions: some tell what a block takes, others do not. */
SELECT
  MAX(host) AS host,
  COUNT(*) AS blocks,
  COUNT(net) AS telling
FROM blocks
HAVING
  COUNT(net) BETWEEN 1 AND COUNT(*) - 1;
