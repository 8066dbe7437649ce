CREATE TEMPORARY TABLE disk_point_rows AS
SELECT
  base.*
FROM disk_write_series AS base;
