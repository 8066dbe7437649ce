CREATE TEMPORARY TABLE transactions AS
/* Transactions that were sent and found in a block; the latency is from the sending to the block's time. */
SELECT
  id,
  in_block,
  EPOCH_NS(TRY_CAST(RTRIM(block_time, 'Z') AS TIMESTAMP_NS)) - t_ns AS latency,
  trx_cpu,
  trx_net,
  ack
FROM sent
WHERE
  NOT in_block IS NULL;
