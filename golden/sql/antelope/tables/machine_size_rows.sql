CREATE TEMPORARY TABLE machine_size_rows AS
SELECT
  base.*
FROM machine_sizes AS base;
