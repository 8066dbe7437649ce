-- Statistics of the analysed blocks whose lines have the value. Sums are exact; standard deviations are those of the
-- population.
SELECT
    guide.host,
    count(window_blocks.place) AS num_blocks,
    count(*) FILTER (WHERE net = 0) AS block_size_empty_blocks,
    min(net) AS block_size_min,
    max(net) AS block_size_max,
    sum(net)::DOUBLE / count(net) AS block_size_avg,
    sqrt((count(net) * sum(net::HUGEINT * net) - sum(net) * sum(net))::DOUBLE) / count(net) AS block_size_sigma,
    min(cpu) AS block_cpu_min,
    max(cpu) AS block_cpu_max,
    sum(cpu)::DOUBLE / count(cpu) AS block_cpu_avg,
    sqrt((count(cpu) * sum(cpu::HUGEINT * cpu) - sum(cpu) * sum(cpu))::DOUBLE) / count(cpu) AS block_cpu_sigma,
    min(elapsed) AS block_elapsed_min,
    max(elapsed) AS block_elapsed_max,
    sum(elapsed)::DOUBLE / count(elapsed) AS block_elapsed_avg,
    sqrt((count(elapsed) * sum(elapsed::HUGEINT * elapsed) - sum(elapsed) * sum(elapsed))::DOUBLE) / count(elapsed) AS block_elapsed_sigma,
    min(time_taken) AS block_time_min,
    max(time_taken) AS block_time_max,
    sum(time_taken)::DOUBLE / count(time_taken) AS block_time_avg,
    sqrt((count(time_taken) * sum(time_taken::HUGEINT * time_taken) - sum(time_taken) * sum(time_taken))::DOUBLE) / count(time_taken) AS block_time_sigma,
    min(latency) AS block_latency_min,
    max(latency) AS block_latency_max,
    sum(latency)::DOUBLE / count(latency) AS block_latency_avg,
    sqrt((count(latency) * sum(latency::HUGEINT * latency) - sum(latency) * sum(latency))::DOUBLE) / count(latency) AS block_latency_sigma
FROM guide
LEFT JOIN window_blocks ON window_blocks.host = guide.host
GROUP BY guide.host
