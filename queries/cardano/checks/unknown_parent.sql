-- A parent must be the genesis or a block whose forging stands earlier in the logs: by instant, then host, then place.
WITH forgings AS (
    SELECT host, seq, block, block_no, slot, block_prev, row_number() OVER (ORDER BY t_ns, host, seq) AS place
    FROM block_forged
),

first_forgings AS (
    SELECT block, min(place) AS place
    FROM forgings
    GROUP BY block
)

SELECT child.host, child.block, child.block_no, child.slot, child.block_prev
FROM forgings AS child
LEFT JOIN first_forgings AS parent ON parent.block = child.block_prev
WHERE child.block_prev <> 'GenesisHash' AND (parent.block IS NULL OR parent.place > child.place)
ORDER BY child.block_no, child.host, child.block
