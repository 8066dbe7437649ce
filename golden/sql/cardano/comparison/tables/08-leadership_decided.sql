CREATE TEMPORARY VIEW leadership_decided AS
SELECT
  host,
  seq,
  t_ns,
  leader,
  slot
FROM events
WHERE
  event = 'leadership_decided';
