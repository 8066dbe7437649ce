CREATE TEMPORARY TABLE swap_point_rows AS
SELECT
  base.*
FROM swap_used_series AS base;
