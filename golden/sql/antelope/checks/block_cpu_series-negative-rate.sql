SELECT
  CONCAT_WS(', ', job, instance, block_type) AS line,
  COUNT(*) AS steps
FROM block_cpu_series
WHERE
  value < 0
GROUP BY
  job,
  instance,
  block_type
ORDER BY
  job,
  instance,
  block_type;
