CREATE TEMPORARY VIEW header_seen AS
SELECT
  host,
  seq,
  t_ns,
  block,
  block_no,
  slot
FROM events
WHERE
  event = 'header_seen';
