SELECT
  experiment_id,
  latency_max AS "latency_max"
FROM experiment
ORDER BY
  experiment_id;
