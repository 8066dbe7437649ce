CREATE TEMPORARY VIEW block_adopted AS
SELECT
  host,
  seq,
  t_ns,
  block,
  chain_delta,
  size
FROM events
WHERE
  event = 'block_adopted';
