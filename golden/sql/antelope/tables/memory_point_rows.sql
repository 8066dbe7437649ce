CREATE TEMPORARY TABLE memory_point_rows AS
SELECT
  base.*
FROM memory_used_series AS base;
