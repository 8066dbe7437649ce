-- `$name` stands for a constant of the run; constants.json has the values.
CREATE TEMPORARY TABLE openings AS
/* The first slot of the timeline of each host: that of its first recognised event, or slot 0 if the host ran before the */
/* start of the system. */
SELECT
  host,
  (
    GREATEST(first_recognised_ns, $system_start) - $system_start
  ) // $slot_length AS slot
FROM logs
WHERE
  recognised > 0;
