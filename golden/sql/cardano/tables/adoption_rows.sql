CREATE TEMPORARY TABLE adoption_rows AS
SELECT
  base.*
FROM adoptions AS base;
