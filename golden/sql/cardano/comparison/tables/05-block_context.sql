CREATE TEMPORARY VIEW block_context AS
SELECT
  host,
  seq,
  t_ns,
  block_no,
  slot
FROM events
WHERE
  event = 'block_context';
