CREATE TEMPORARY TABLE rotation_watched AS
SELECT
  base.*,
  TRUE AS accepted
FROM rotation_watched_rows AS base;
