CREATE TEMPORARY TABLE rotation_watched_rows AS
SELECT
  base.*
FROM rotation AS base;
