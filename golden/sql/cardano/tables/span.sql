CREATE TEMPORARY TABLE span AS
SELECT
  base.*,
  TRUE AS accepted
FROM span_rows AS base;
