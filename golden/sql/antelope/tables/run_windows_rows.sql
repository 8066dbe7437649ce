CREATE TEMPORARY TABLE run_windows_rows AS
SELECT
  base.*
FROM production_windows AS base;
