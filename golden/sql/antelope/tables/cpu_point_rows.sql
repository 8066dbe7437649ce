CREATE TEMPORARY TABLE cpu_point_rows AS
SELECT
  base.*
FROM cpu_usage_series AS base;
