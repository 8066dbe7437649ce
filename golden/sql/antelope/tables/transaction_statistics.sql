CREATE TEMPORARY TABLE transaction_statistics AS
/* Statistics of the generators' transactions that are in blocks. Sums are exact; standard deviations are those of the */
/* population. */
SELECT
  'all' AS generators,
  COUNT(*) AS samples,
  MIN(latency) AS trx_latency_min,
  MAX(latency) AS trx_latency_max,
  CAST(SUM(latency) AS DOUBLE) / COUNT(latency) AS trx_latency_avg,
  SQRT(
    CAST((
      COUNT(latency) * SUM(CAST(latency AS INT128) * latency) - SUM(latency) * SUM(latency)
    ) AS DOUBLE)
  ) / COUNT(latency) AS trx_latency_sigma,
  MIN(trx_cpu) AS trx_cpu_min,
  MAX(trx_cpu) AS trx_cpu_max,
  CAST(SUM(trx_cpu) AS DOUBLE) / COUNT(trx_cpu) AS trx_cpu_avg,
  SQRT(
    CAST((
      COUNT(trx_cpu) * SUM(CAST(trx_cpu AS INT128) * trx_cpu) - SUM(trx_cpu) * SUM(trx_cpu)
    ) AS DOUBLE)
  ) / COUNT(trx_cpu) AS trx_cpu_sigma,
  MIN(trx_net) AS trx_net_min,
  MAX(trx_net) AS trx_net_max,
  CAST(SUM(trx_net) AS DOUBLE) / COUNT(trx_net) AS trx_net_avg,
  SQRT(
    CAST((
      COUNT(trx_net) * SUM(CAST(trx_net AS INT128) * trx_net) - SUM(trx_net) * SUM(trx_net)
    ) AS DOUBLE)
  ) / COUNT(trx_net) AS trx_net_sigma,
  MIN(ack) AS trx_ack_min,
  MAX(ack) AS trx_ack_max,
  CAST(SUM(ack) AS DOUBLE) / COUNT(ack) AS trx_ack_avg,
  SQRT(
    CAST((
      COUNT(ack) * SUM(CAST(ack AS INT128) * ack) - SUM(ack) * SUM(ack)
    ) AS DOUBLE)
  ) / COUNT(ack) AS trx_ack_sigma
FROM transactions
HAVING
  COUNT(*) > 0;
