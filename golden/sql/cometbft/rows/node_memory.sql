SELECT
  name,
  job,
  instance,
  t_ns,
  value
FROM node_memory
ORDER BY
  name,
  job,
  instance,
  t_ns;
