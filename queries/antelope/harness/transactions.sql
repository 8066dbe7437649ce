-- Transactions that are in blocks; the latency is from sending the transaction to the timestamp of the block.
SELECT
    id,
    in_block,
    epoch_ns(try_cast(rtrim(block_time, 'Z') AS TIMESTAMP_NS)) - t_ns AS latency,
    trx_cpu,
    trx_net,
    ack
FROM sent
WHERE in_block IS NOT NULL
