SELECT
  CONCAT_WS(', ', job, instance, cpu) AS line,
  COUNT(*) AS steps
FROM cpu_idle
WHERE
  value < 0
GROUP BY
  job,
  instance,
  cpu
ORDER BY
  job,
  instance,
  cpu;
