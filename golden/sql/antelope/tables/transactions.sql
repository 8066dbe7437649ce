CREATE TEMPORARY TABLE transactions AS
/* Transactions that are in blocks; the latency is from sending the transaction to the timestamp of the block. */
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
