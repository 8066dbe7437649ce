CREATE TEMPORARY VIEW loaded AS
SELECT
  host,
  seq,
  t_ns,
  block_time,
  connections,
  duration_ns,
  experiment_id,
  rate,
  size,
  tx_hash
FROM READ_PARQUET('events/loaded/*.parquet')
WHERE
  whole;
