SELECT
  instance,
  device,
  write_rate AS "drive_write_rate"
FROM drive
ORDER BY
  instance,
  device;
