CREATE TEMPORARY TABLE run_windows AS
SELECT
  base.*,
  TRUE AS accepted
FROM run_windows_rows AS base;
