CREATE TEMPORARY VIEW p2p_peers AS
SELECT
  host,
  seq,
  t_ns,
  series,
  instance,
  job,
  value
FROM READ_PARQUET('events/p2p_peers/*.parquet')
WHERE
  whole;
