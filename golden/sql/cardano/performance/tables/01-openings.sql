-- `$name` stands for a constant of the run; constants.json has the values.
CREATE TEMPORARY TABLE openings AS
/* The slot with which the timeline of each host opens: that of its first recognised event, or slot 0 when the host was */
/* there before the system started. */
SELECT
  host,
  (
    GREATEST(first_recognised_ns, $system_start) - $system_start
  ) // $slot_length AS slot
FROM logs
WHERE
  recognised > 0;
