SELECT
  name,
  from_ns,
  to_ns
FROM rotation_watched
ORDER BY
  name;
