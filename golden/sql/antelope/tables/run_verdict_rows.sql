CREATE TEMPORARY TABLE run_verdict_rows AS
SELECT
  base.*
FROM verdict AS base;
