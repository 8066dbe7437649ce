/* Steps of a host's timeline that skip 1000 slots or more. */
SELECT
  host,
  latest - before - 1 AS silence,
  before,
  latest AS slot,
  STRFTIME(MAKE_TIMESTAMP_NS(t_ns), '%Y-%m-%d %H:%M:%S.%n') AS instant
FROM slot_marks
WHERE
  latest - before - 1 >= 1000
ORDER BY
  host,
  latest;
