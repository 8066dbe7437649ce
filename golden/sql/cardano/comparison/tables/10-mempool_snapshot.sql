CREATE TEMPORARY VIEW mempool_snapshot AS
SELECT
  host,
  seq,
  t_ns,
  slot
FROM events
WHERE
  event = 'mempool_snapshot';
