CREATE TEMPORARY TABLE host_rows AS
SELECT
  base.*
FROM slot_extents AS base;
