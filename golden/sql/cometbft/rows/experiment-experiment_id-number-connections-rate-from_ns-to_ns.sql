SELECT
  experiment_id,
  number,
  connections,
  rate,
  from_ns,
  to_ns
FROM experiment
ORDER BY
  experiment_id;
