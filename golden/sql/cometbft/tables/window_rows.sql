CREATE TEMPORARY TABLE window_rows AS
SELECT
  base.*
FROM windows AS base;
