SELECT
  name,
  since_begin AS "since_begin",
  latency AS "run_latency"
FROM run_transaction
ORDER BY
  name,
  place;
