CREATE TEMPORARY TABLE slot_rows AS
SELECT
  base.*
FROM slots AS base;
