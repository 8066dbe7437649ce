CREATE TEMPORARY TABLE run_summary AS
/* Values of the manifest of a run that are not constants: one row. */
WITH block_totals AS (
  SELECT
    COUNT(CASE WHEN block.accepted THEN 1 END) AS blocks_analysed,
    COUNT(CASE WHEN NOT block.accepted THEN 1 END) AS blocks_rejected
  FROM block
)
SELECT
  log_summary.machines,
  log_summary.objects_per_host,
  log_summary.recognised_per_host,
  log_summary.host_run_time,
  log_summary.line_rate,
  log_summary.recognised_total,
  log_summary.run_time,
  log_summary.analysed_time,
  log_summary.efficiency,
  log_summary.start_spread,
  log_summary.stop_spread,
  log_summary.slots_analysed,
  block_totals.blocks_analysed,
  block_totals.blocks_rejected,
  log_summary.plutus_script
FROM log_summary
CROSS JOIN block_totals;
