-- `$name` stands for a constant of the run; constants.json has the values.
CREATE TEMPORARY TABLE verdict AS
/* The rule of the harness: the run was completed, all sent transactions are in blocks, and the average of transactions */
/* per second is at least the target, or less than 100 below it. Without a target or expected number, the run is not */
/* judged. */
WITH judged AS (
  SELECT
    guide.host,
    $completed AS completed,
    NULLIF($target_tps, -1) AS target_tps,
    tps.tps_avg,
    NULLIF($expected_transactions, -1) AS expected,
    guide.total_transactions AS counted
  FROM guide
  LEFT JOIN tps
    ON tps.host = guide.host
), rules AS (
  SELECT
    *,
    CASE
      WHEN NOT target_tps IS NULL
      THEN COALESCE(tps_avg >= target_tps OR ABS(target_tps - tps_avg) < 100, FALSE)
    END AS tps_met,
    CASE WHEN NOT expected IS NULL THEN COALESCE(expected = counted, FALSE) END AS trx_met
  FROM judged
)
SELECT
  host,
  target_tps,
  tps_avg,
  expected,
  counted,
  CASE WHEN completed THEN 'yes' ELSE 'no' END AS run_completed,
  CASE tps_met WHEN TRUE THEN 'met' WHEN FALSE THEN 'not met' ELSE 'not judged' END AS tps_expectation,
  CASE trx_met WHEN TRUE THEN 'met' WHEN FALSE THEN 'not met' ELSE 'not judged' END AS trx_expectation,
  CASE completed AND trx_met
    WHEN TRUE
    THEN 'yes'
    WHEN FALSE
    THEN 'no'
    ELSE 'not judged'
  END AS run_successful,
  CASE completed AND trx_met AND tps_met
    WHEN TRUE
    THEN 'pass'
    WHEN FALSE
    THEN 'fail'
    ELSE 'not judged'
  END AS result,
  CASE
    WHEN completed AND trx_met AND tps_met
    THEN 1
    WHEN NOT (
      completed AND trx_met AND tps_met
    )
    THEN 0
  END AS passed
FROM rules;
