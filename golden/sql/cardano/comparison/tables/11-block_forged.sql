CREATE TEMPORARY VIEW block_forged AS
SELECT
  host,
  seq,
  t_ns,
  block,
  block_no,
  block_prev,
  slot
FROM events
WHERE
  event = 'block_forged';
