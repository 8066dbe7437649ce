SELECT
  t_ns,
  disk_write AS "vm_disk_write_rate",
  disk_read AS "vm_disk_read_rate"
FROM reading
ORDER BY
  t_ns;
