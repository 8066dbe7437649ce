CREATE TEMPORARY VIEW p2p_clients AS
SELECT
  host,
  seq,
  t_ns,
  series,
  instance,
  job,
  value
FROM READ_PARQUET('events/p2p_clients/*.parquet')
WHERE
  whole;
