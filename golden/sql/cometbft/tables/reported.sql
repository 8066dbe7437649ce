CREATE TEMPORARY VIEW reported AS
SELECT
  host,
  seq,
  t_ns,
  connections,
  experiment_id,
  latency_avg,
  latency_max,
  latency_min,
  latency_stddev,
  negative_latencies,
  rate,
  size,
  valid_txs
FROM READ_PARQUET('events/reported/*.parquet')
WHERE
  whole;
