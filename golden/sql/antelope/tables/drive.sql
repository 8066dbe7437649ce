CREATE TEMPORARY TABLE drive AS
SELECT
  base.*,
  TRUE AS accepted
FROM drive_rows AS base;
