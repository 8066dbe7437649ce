CREATE TEMPORARY TABLE run_tps_rows AS
SELECT
  base.*
FROM tps AS base;
