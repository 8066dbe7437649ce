CREATE TEMPORARY TABLE reading_rows AS
SELECT
  base.*
FROM readings AS base;
