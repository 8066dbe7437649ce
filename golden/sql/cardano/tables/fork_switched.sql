CREATE TEMPORARY VIEW fork_switched AS
SELECT
  host,
  seq,
  t_ns,
  block
FROM READ_PARQUET('events/fork_switched/*.parquet')
WHERE
  whole;
