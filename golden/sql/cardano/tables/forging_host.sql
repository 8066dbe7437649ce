CREATE TEMPORARY TABLE forging_host AS
SELECT
  base.*,
  TRUE AS accepted
FROM forging_host_rows AS base;
