CREATE TEMPORARY TABLE run_guide_rows AS
SELECT
  base.*
FROM guide AS base;
