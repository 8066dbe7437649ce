CREATE TEMPORARY TABLE experiment_rows AS
SELECT
  base.*
FROM experiments AS base;
