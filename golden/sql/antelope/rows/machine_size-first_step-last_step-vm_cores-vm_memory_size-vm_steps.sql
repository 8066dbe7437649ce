SELECT
  first_step,
  last_step,
  cores AS "vm_cores",
  maxmem AS "vm_memory_size",
  steps AS "vm_steps"
FROM machine_size
ORDER BY
  cores,
  maxmem;
