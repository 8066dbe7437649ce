SELECT
  experiment_id,
  since_start AS "since_start",
  latency AS "latency"
FROM transaction
ORDER BY
  experiment_id,
  place;
