-- `$name` stands for a constant of the run; constants.json has the values.
CREATE TEMPORARY TABLE log_summary AS
/* Values of the manifest about the logs of a run and the slots of its hosts: one row. */
/* Compatibility: fork switches and records about dropped records are known, but do not count as analysed. */
WITH switches AS (
  SELECT
    host,
    COUNT(*) AS switches
  FROM (
    SELECT
      host
    FROM fork_switched
    UNION ALL
    SELECT
      host
    FROM records_limited
  )
  GROUP BY
    host
), analysed AS (
  SELECT
    logs.*,
    logs.recognised - COALESCE(switches.switches, 0) AS counted
  FROM logs
  LEFT JOIN switches
    ON switches.host = logs.host
), log_totals AS (
  SELECT
    COUNT(*) AS machines,
    CAST(SUM(objects) AS DOUBLE) / COUNT(*) AS objects_per_host,
    CAST(SUM(counted) AS DOUBLE) / COUNT(*) AS recognised_per_host,
    SUM(counted) AS recognised_total,
    CAST(SUM(last_ns - first_ns) AS DOUBLE) / COUNT(*) / 1000000000 AS host_run_time,
    MIN(first_ns) AS first_ns,
    MAX(last_ns) AS last_ns,
    MAX(first_ns) - MIN(first_ns) AS start_spread,
    MAX(last_ns) - MIN(last_ns) AS stop_spread
  FROM analysed
), line_rates AS (
  SELECT
    FSUM(
      CAST(lines AS DOUBLE) / GREATEST((
        last_ns - first_ns
      ) // 1000000000, 1) ORDER BY host
    ) / COUNT(*) AS line_rate
  FROM logs
), slot_totals AS (
  SELECT
    SUM(last_slot - first_slot) // COUNT(*) AS slots_analysed,
    (
      MAX(last_slot) - MIN(first_slot)
    ) * $slot_length AS analysed_ns
  FROM slot_extents
), times AS (
  SELECT
    CAST(ROUND_EVEN(
      CAST((
        log_totals.last_ns - log_totals.first_ns
      ) AS DECIMAL(38, 9)) / 1000000000,
      0
    ) AS BIGINT) AS run_time,
    CAST(ROUND_EVEN(CAST(slot_totals.analysed_ns AS DECIMAL(38, 9)) / 1000000000, 0) AS BIGINT) AS analysed_time
  FROM log_totals
  CROSS JOIN slot_totals
)
SELECT
  log_totals.machines,
  log_totals.objects_per_host,
  log_totals.recognised_per_host,
  log_totals.host_run_time,
  line_rates.line_rate,
  log_totals.recognised_total,
  times.run_time,
  times.analysed_time,
  CAST(times.analysed_time AS DOUBLE) / times.run_time AS efficiency,
  log_totals.start_spread,
  log_totals.stop_spread,
  slot_totals.slots_analysed,
  CASE
    WHEN $plutus_mode AND $plutus_auto_mode
    THEN 'Loop'
    WHEN $plutus_type <> ''
    THEN $plutus_script
    ELSE ''
  END AS plutus_script /* Old profiles have two flags for the loop script, newer ones a type and a name. */
FROM log_totals
CROSS JOIN line_rates
CROSS JOIN slot_totals
CROSS JOIN times;
