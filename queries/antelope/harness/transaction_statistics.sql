-- Statistics of the generators' transactions that are in blocks. Sums are exact; standard deviations are those of the
-- population.
SELECT
    'all' AS generators,
    count(*) AS samples,
    min(latency) AS trx_latency_min,
    max(latency) AS trx_latency_max,
    sum(latency)::DOUBLE / count(latency) AS trx_latency_avg,
    sqrt((count(latency) * sum(latency::HUGEINT * latency) - sum(latency) * sum(latency))::DOUBLE) / count(latency) AS trx_latency_sigma,
    min(trx_cpu) AS trx_cpu_min,
    max(trx_cpu) AS trx_cpu_max,
    sum(trx_cpu)::DOUBLE / count(trx_cpu) AS trx_cpu_avg,
    sqrt((count(trx_cpu) * sum(trx_cpu::HUGEINT * trx_cpu) - sum(trx_cpu) * sum(trx_cpu))::DOUBLE) / count(trx_cpu) AS trx_cpu_sigma,
    min(trx_net) AS trx_net_min,
    max(trx_net) AS trx_net_max,
    sum(trx_net)::DOUBLE / count(trx_net) AS trx_net_avg,
    sqrt((count(trx_net) * sum(trx_net::HUGEINT * trx_net) - sum(trx_net) * sum(trx_net))::DOUBLE) / count(trx_net) AS trx_net_sigma,
    min(ack) AS trx_ack_min,
    max(ack) AS trx_ack_max,
    sum(ack)::DOUBLE / count(ack) AS trx_ack_avg,
    sqrt((count(ack) * sum(ack::HUGEINT * ack) - sum(ack) * sum(ack))::DOUBLE) / count(ack) AS trx_ack_sigma
FROM transactions
HAVING count(*) > 0
