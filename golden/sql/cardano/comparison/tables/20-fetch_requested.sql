CREATE TEMPORARY VIEW fetch_requested AS
SELECT
  host,
  seq,
  t_ns,
  block,
  length
FROM events
WHERE
  event = 'fetch_requested';
