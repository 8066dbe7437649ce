CREATE TEMPORARY TABLE reading AS
SELECT
  base.*,
  TRUE AS accepted
FROM reading_rows AS base;
