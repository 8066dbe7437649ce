-- The first slot of the timeline of each host: that of its first recognised event, or slot 0 if the host ran before the
-- start of the system.
SELECT
    host,
    (greatest(first_recognised_ns, $system_start) - $system_start) // $slot_length AS slot
FROM logs
WHERE recognised > 0
