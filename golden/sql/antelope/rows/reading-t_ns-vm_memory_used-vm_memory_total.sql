SELECT
  t_ns,
  mem AS "vm_memory_used",
  maxmem AS "vm_memory_total"
FROM reading
ORDER BY
  t_ns;
