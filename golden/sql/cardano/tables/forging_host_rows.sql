CREATE TEMPORARY TABLE forging_host_rows AS
SELECT
  base.*
FROM forging_hosts AS base;
