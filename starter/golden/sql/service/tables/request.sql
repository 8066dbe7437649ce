CREATE TEMPORARY TABLE request AS
SELECT
  base.*,
  TRUE AS accepted
FROM request_rows AS base;
