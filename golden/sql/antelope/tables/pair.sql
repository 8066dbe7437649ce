CREATE TEMPORARY TABLE pair AS
SELECT
  base.*,
  TRUE AS accepted
FROM pair_rows AS base;
