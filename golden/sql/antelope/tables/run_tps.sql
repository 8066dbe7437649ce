CREATE TEMPORARY TABLE run_tps AS
SELECT
  base.*,
  TRUE AS accepted
FROM run_tps_rows AS base;
