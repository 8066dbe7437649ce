-- Values of the manifest about the logs of a run and the slots of its hosts: one row.
-- Compatibility: fork switches and records about dropped records are known, but do not count as analysed.
WITH switches AS (
    SELECT host, count(*) AS switches
    FROM (SELECT host FROM fork_switched UNION ALL SELECT host FROM records_limited)
    GROUP BY host
),

analysed AS (
    SELECT logs.*, logs.recognised - coalesce(switches.switches, 0) AS counted
    FROM logs
    LEFT JOIN switches ON switches.host = logs.host
),

log_totals AS (
    SELECT
        count(*) AS machines,
        sum(objects)::DOUBLE / count(*) AS objects_per_host,
        sum(counted)::DOUBLE / count(*) AS recognised_per_host,
        sum(counted) AS recognised_total,
        sum(last_ns - first_ns)::DOUBLE / count(*) / 1000000000 AS host_run_time,
        min(first_ns) AS first_ns,
        max(last_ns) AS last_ns,
        max(first_ns) - min(first_ns) AS start_spread,
        max(last_ns) - min(last_ns) AS stop_spread
    FROM analysed
),

line_rates AS (
    SELECT
        fsum(lines::DOUBLE / greatest((last_ns - first_ns) // 1000000000, 1) ORDER BY host) / count(*) AS line_rate
    FROM logs
),

slot_totals AS (
    SELECT
        sum(last_slot - first_slot) // count(*) AS slots_analysed,
        (max(last_slot) - min(first_slot)) * $slot_length AS analysed_ns
    FROM slot_extents
),

times AS (
    SELECT
        round_even((log_totals.last_ns - log_totals.first_ns)::DECIMAL(38, 9) / 1000000000, 0)::BIGINT AS run_time,
        round_even(slot_totals.analysed_ns::DECIMAL(38, 9) / 1000000000, 0)::BIGINT AS analysed_time
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
    times.analysed_time::DOUBLE / times.run_time AS efficiency,
    log_totals.start_spread,
    log_totals.stop_spread,
    slot_totals.slots_analysed,
    -- Old profiles have two flags for the loop script, newer ones a type and a name.
    CASE
        WHEN $plutus_mode AND $plutus_auto_mode THEN 'Loop'
        WHEN $plutus_type <> '' THEN $plutus_script
        ELSE ''
    END AS plutus_script
FROM log_totals
CROSS JOIN line_rates
CROSS JOIN slot_totals
CROSS JOIN times
