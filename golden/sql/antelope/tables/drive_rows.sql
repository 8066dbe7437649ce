CREATE TEMPORARY TABLE drive_rows AS
SELECT
  base.*
FROM drive_rates AS base;
