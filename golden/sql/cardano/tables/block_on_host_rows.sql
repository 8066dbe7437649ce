CREATE TEMPORARY TABLE block_on_host_rows AS
SELECT
  base.*
FROM block_steps AS base;
