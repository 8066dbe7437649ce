CREATE TEMPORARY TABLE run_verdict AS
SELECT
  base.*,
  TRUE AS accepted
FROM run_verdict_rows AS base;
