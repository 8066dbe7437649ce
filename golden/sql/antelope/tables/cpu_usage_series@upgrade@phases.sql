-- `$name` stands for a constant of the run; constants.json has the values.
CREATE TEMPORARY TABLE cpu_usage_series AS
WITH term_1 AS (
  SELECT
    name,
    job,
    instance,
    t_ns,
    LIST_AGGREGATE(LIST(value ORDER BY value), 'fsum') / COUNT(*) AS value
  FROM cpu_idle
  GROUP BY
    name,
    job,
    instance,
    t_ns
), terms AS (
  SELECT
    term_1.name,
    term_1.job,
    term_1.instance,
    term_1.t_ns,
    term_1.value AS idle
  FROM term_1
), read_1 AS (
  SELECT
    name,
    job,
    instance,
    t_ns,
    CAST(1.0 AS DOUBLE) - idle AS value
  FROM terms
)
SELECT
  name,
  job,
  instance,
  t_ns,
  value * 100 AS value
FROM read_1
WHERE
  t_ns >= $phase_since AND t_ns < $phase_until;
