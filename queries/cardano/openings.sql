-- The slot with which the timeline of each host opens: that of its first recognised event, or slot 0 when the host was
-- there before the system started.
SELECT
    host,
    (greatest(first_recognised_ns, $system_start) - $system_start) // $slot_length AS slot
FROM logs
WHERE recognised > 0
