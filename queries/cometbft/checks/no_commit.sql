-- Nodes whose logs hold no commit of a block.
SELECT
    nodes_logged.node,
    nodes_logged.starts,
    nodes_logged.proposals,
    logs.objects AS lines,
    CASE
        WHEN count(*) OVER () = 1 THEN ''
        ELSE ', nor do ' || (count(*) OVER () - 1) || ' other nodes'
    END AS others
FROM nodes_logged
INNER JOIN logs ON logs.host = nodes_logged.node
WHERE nodes_logged.blocks = 0
ORDER BY nodes_logged.node
