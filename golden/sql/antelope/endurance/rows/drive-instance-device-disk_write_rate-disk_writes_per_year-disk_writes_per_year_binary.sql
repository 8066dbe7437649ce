SELECT
  instance,
  device,
  write_rate AS "disk_write_rate"
FROM drive
ORDER BY
  instance,
  device;
