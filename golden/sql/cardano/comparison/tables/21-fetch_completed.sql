CREATE TEMPORARY VIEW fetch_completed AS
SELECT
  host,
  seq,
  t_ns,
  block
FROM events
WHERE
  event = 'fetch_completed';
