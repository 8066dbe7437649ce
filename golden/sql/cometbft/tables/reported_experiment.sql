CREATE TEMPORARY TABLE reported_experiment AS
SELECT
  base.*,
  TRUE AS accepted
FROM reported_experiment_rows AS base;
