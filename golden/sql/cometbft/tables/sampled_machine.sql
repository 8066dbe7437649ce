CREATE TEMPORARY TABLE sampled_machine AS
SELECT
  base.*,
  TRUE AS accepted
FROM sampled_machine_rows AS base;
