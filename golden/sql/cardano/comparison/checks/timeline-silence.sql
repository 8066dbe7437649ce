/* Steps of a host's timeline that jump over 1000 slots or more. */
WITH steps AS (
  SELECT
    host,
    t_ns,
    latest AS slot,
    COALESCE(LAG(latest) OVER (PARTITION BY host ORDER BY seq), opening) AS before
  FROM slot_marks
)
SELECT
  host,
  slot - before - 1 AS silence,
  before,
  slot,
  STRFTIME(MAKE_TIMESTAMP_NS(t_ns), '%Y-%m-%d %H:%M:%S.%n') AS instant
FROM steps
WHERE
  slot - before - 1 >= 1000
ORDER BY
  host,
  slot;
