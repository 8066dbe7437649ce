/* Nodes whose logs have known lines, but no committed block. Logs without any known line are warned of anyway. */
SELECT
  LISTAGG(nodes_logged.node, ', '
  ORDER BY
    nodes_logged.node) AS nodes,
  SUM(logs.objects) AS lines,
  SUM(nodes_logged.starts) AS starts,
  SUM(nodes_logged.proposals) AS proposals
FROM nodes_logged
INNER JOIN (
  SELECT
    *
  FROM logs
  WHERE
    source IN ('nodes')
) AS logs
  ON logs.host = nodes_logged.node
WHERE
  nodes_logged.blocks = 0 AND logs.recognised > 0
HAVING
  COUNT(*) > 0;
