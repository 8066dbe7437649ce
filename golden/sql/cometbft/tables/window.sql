CREATE TEMPORARY TABLE "window" AS
SELECT
  base.*,
  TRUE AS accepted
FROM window_rows AS base;
