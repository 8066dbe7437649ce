CREATE TEMPORARY VIEW block_sent AS
SELECT
  host,
  seq,
  t_ns,
  block
FROM events
WHERE
  event = 'block_sent';
