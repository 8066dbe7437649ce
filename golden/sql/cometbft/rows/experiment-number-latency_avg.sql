SELECT
  number,
  latency_avg AS "latency_avg"
FROM experiment
ORDER BY
  experiment_id;
