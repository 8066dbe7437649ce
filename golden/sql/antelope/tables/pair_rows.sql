CREATE TEMPORARY TABLE pair_rows AS
SELECT
  base.*
FROM pairs AS base;
