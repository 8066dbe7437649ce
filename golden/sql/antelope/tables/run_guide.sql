CREATE TEMPORARY TABLE run_guide AS
SELECT
  base.*,
  TRUE AS accepted
FROM run_guide_rows AS base;
