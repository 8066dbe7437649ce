SELECT
  experiment_id,
  number,
  connections,
  rate
FROM experiment
ORDER BY
  experiment_id;
