SELECT
  name
FROM "window"
ORDER BY
  name;
