CREATE TEMPORARY VIEW header_announced AS
SELECT
  host,
  seq,
  t_ns,
  block
FROM events
WHERE
  event = 'header_announced';
