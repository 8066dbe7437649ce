CREATE TEMPORARY TABLE jobs AS
SELECT
  base.*,
  TRUE AS accepted
FROM jobs_rows AS base;
