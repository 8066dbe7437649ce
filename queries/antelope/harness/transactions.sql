-- Transactions that were sent and found in a block; the latency is from the sending to the block's time.
SELECT
    id,
    in_block,
    epoch_ns(try_cast(rtrim(block_time, 'Z') AS TIMESTAMP_NS)) - t_ns AS latency,
    trx_cpu,
    trx_net,
    ack
FROM sent
WHERE in_block IS NOT NULL
