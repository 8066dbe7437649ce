SELECT
  t_ns,
  net_in AS "vm_network_in",
  net_out AS "vm_network_out"
FROM reading
ORDER BY
  t_ns;
