SELECT
  device,
  instance,
  write_rate AS "drive_write_rate"
FROM drive
ORDER BY
  instance,
  device;
