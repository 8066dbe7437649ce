CREATE TEMPORARY TABLE slot AS
SELECT
  base.*,
  TRUE AS accepted
FROM slot_rows AS base;
