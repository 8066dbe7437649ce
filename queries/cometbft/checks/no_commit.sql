-- Nodes whose logs have known lines, but no committed block. Logs without any known line are warned of anyway.
SELECT
    string_agg(nodes_logged.node, ', ' ORDER BY nodes_logged.node) AS nodes,
    sum(logs.objects) AS lines,
    sum(nodes_logged.starts) AS starts,
    sum(nodes_logged.proposals) AS proposals
FROM nodes_logged
INNER JOIN logs ON logs.host = nodes_logged.node
WHERE nodes_logged.blocks = 0 AND logs.recognised > 0
HAVING count(*) > 0
