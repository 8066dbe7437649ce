SELECT
  t_ns,
  cpu AS "vm_cpu_usage"
FROM reading
ORDER BY
  t_ns;
