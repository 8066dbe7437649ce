CREATE TEMPORARY TABLE host AS
SELECT
  base.*,
  TRUE AS accepted
FROM host_rows AS base;
