-- Lines of several versions: some tell what a block takes, others do not.
SELECT max(host) AS host, count(*) AS blocks, count(net) AS telling
FROM blocks
HAVING count(net) BETWEEN 1 AND count(*) - 1
