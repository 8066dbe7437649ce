SELECT
  CONCAT_WS(', ', job, instance, device) AS line,
  COUNT(*) AS steps
FROM disk_write_series
WHERE
  value < 0
GROUP BY
  job,
  instance,
  device
ORDER BY
  job,
  instance,
  device;
