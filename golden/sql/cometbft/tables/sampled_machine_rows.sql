CREATE TEMPORARY TABLE sampled_machine_rows AS
SELECT
  base.*
FROM sampled_machines AS base;
