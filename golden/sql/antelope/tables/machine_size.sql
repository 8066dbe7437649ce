CREATE TEMPORARY TABLE machine_size AS
SELECT
  base.*,
  TRUE AS accepted
FROM machine_size_rows AS base;
