CREATE TEMPORARY TABLE block_statistics AS
/* Statistics of the analysed blocks whose lines have the value. Sums are exact; standard deviations are those of the */
/* population. */
SELECT
  guide.host,
  COUNT(window_blocks.place) AS num_blocks,
  COUNT(*) FILTER(WHERE
    net = 0) AS block_size_empty_blocks,
  MIN(net) AS block_size_min,
  MAX(net) AS block_size_max,
  CAST(SUM(net) AS DOUBLE) / COUNT(net) AS block_size_avg,
  SQRT(
    CAST((
      COUNT(net) * SUM(CAST(net AS INT128) * net) - SUM(net) * SUM(net)
    ) AS DOUBLE)
  ) / COUNT(net) AS block_size_sigma,
  MIN(cpu) AS block_cpu_min,
  MAX(cpu) AS block_cpu_max,
  CAST(SUM(cpu) AS DOUBLE) / COUNT(cpu) AS block_cpu_avg,
  SQRT(
    CAST((
      COUNT(cpu) * SUM(CAST(cpu AS INT128) * cpu) - SUM(cpu) * SUM(cpu)
    ) AS DOUBLE)
  ) / COUNT(cpu) AS block_cpu_sigma,
  MIN(elapsed) AS block_elapsed_min,
  MAX(elapsed) AS block_elapsed_max,
  CAST(SUM(elapsed) AS DOUBLE) / COUNT(elapsed) AS block_elapsed_avg,
  SQRT(
    CAST((
      COUNT(elapsed) * SUM(CAST(elapsed AS INT128) * elapsed) - SUM(elapsed) * SUM(elapsed)
    ) AS DOUBLE)
  ) / COUNT(elapsed) AS block_elapsed_sigma,
  MIN(time_taken) AS block_time_min,
  MAX(time_taken) AS block_time_max,
  CAST(SUM(time_taken) AS DOUBLE) / COUNT(time_taken) AS block_time_avg,
  SQRT(
    CAST((
      COUNT(time_taken) * SUM(CAST(time_taken AS INT128) * time_taken) - SUM(time_taken) * SUM(time_taken)
    ) AS DOUBLE)
  ) / COUNT(time_taken) AS block_time_sigma,
  MIN(latency) AS block_latency_min,
  MAX(latency) AS block_latency_max,
  CAST(SUM(latency) AS DOUBLE) / COUNT(latency) AS block_latency_avg,
  SQRT(
    CAST((
      COUNT(latency) * SUM(CAST(latency AS INT128) * latency) - SUM(latency) * SUM(latency)
    ) AS DOUBLE)
  ) / COUNT(latency) AS block_latency_sigma
FROM guide
LEFT JOIN window_blocks
  ON window_blocks.host = guide.host
GROUP BY
  guide.host;
