CREATE TEMPORARY TABLE reported_experiment_rows AS
SELECT
  base.*
FROM reported_experiments AS base;
