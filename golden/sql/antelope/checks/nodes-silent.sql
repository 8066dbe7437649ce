/* Nodes whose logs have known lines, but no received or produced block. Logs without any known line are warned of */
/* anyway. */
SELECT
  LISTAGG(nodes.host, ', '
  ORDER BY
    nodes.host) AS hosts
FROM nodes
INNER JOIN (
  SELECT
    *
  FROM logs
  WHERE
    source IN ('nodes')
) AS logs
  ON logs.host = nodes.host
WHERE
  nodes.received + nodes.produced = 0 AND logs.recognised > 0
HAVING
  COUNT(*) > 0;
