SELECT
  CONCAT_WS(', ', job, instance) AS line,
  COUNT(*) AS steps
FROM block_rate
WHERE
  value < 0
GROUP BY
  job,
  instance
ORDER BY
  job,
  instance;
