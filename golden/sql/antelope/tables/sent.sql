CREATE TEMPORARY VIEW sent AS
SELECT
  host,
  seq,
  t_ns,
  ack,
  block_time,
  id,
  in_block,
  trx_cpu,
  trx_net
FROM READ_PARQUET('events/sent/*.parquet')
WHERE
  whole;
