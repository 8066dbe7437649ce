SELECT
  host,
  run_completed,
  tps_expectation,
  trx_expectation,
  run_successful,
  result,
  target_tps AS "target_tps",
  tps_avg AS "reached_tps",
  expected AS "expected_transactions",
  counted AS "counted_transactions"
FROM run_verdict
ORDER BY
  host;
