CREATE TEMPORARY TABLE experiment AS
SELECT
  base.*,
  TRUE AS accepted
FROM experiment_rows AS base;
