-- A parent must be the genesis or a block whose forging some host logged earlier.
WITH first_forgings AS (
    SELECT block, min(t_ns) AS t_ns
    FROM block_forged
    GROUP BY block
)

SELECT child.host, child.block, child.block_no, child.slot, child.block_prev
FROM block_forged AS child
LEFT JOIN first_forgings AS parent ON parent.block = child.block_prev
WHERE child.block_prev <> 'GenesisHash' AND (parent.block IS NULL OR parent.t_ns > child.t_ns)
ORDER BY child.block_no, child.host, child.block
