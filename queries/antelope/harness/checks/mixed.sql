-- Logs of several versions: some lines have the resource usage of the block, others do not.
SELECT max(host) AS host, count(*) AS blocks, count(net) AS complete
FROM blocks
HAVING count(net) BETWEEN 1 AND count(*) - 1
