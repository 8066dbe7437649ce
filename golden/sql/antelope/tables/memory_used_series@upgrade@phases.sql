-- `$name` stands for a constant of the run; constants.json has the values.
CREATE TEMPORARY TABLE memory_used_series AS
WITH term_1 AS (
  SELECT
    name,
    job,
    instance,
    t_ns,
    value
  FROM memory_total_bytes
), term_2 AS (
  SELECT
    name,
    job,
    instance,
    t_ns,
    value
  FROM memory_available_bytes
), terms AS (
  SELECT
    term_1.name,
    term_1.job,
    term_1.instance,
    term_1.t_ns,
    term_1.value AS total,
    term_2.value AS rest
  FROM term_1
  JOIN term_2
    ON term_2.name = term_1.name
    AND term_2.job = term_1.job
    AND term_2.instance = term_1.instance
    AND term_2.t_ns = term_1.t_ns
), read_1 AS (
  SELECT
    name,
    job,
    instance,
    t_ns,
    total - rest AS value
  FROM terms
)
SELECT
  name,
  job,
  instance,
  t_ns,
  value AS value
FROM read_1
WHERE
  t_ns >= $phase_since AND t_ns < $phase_until;
