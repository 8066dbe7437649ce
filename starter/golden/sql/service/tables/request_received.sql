CREATE TEMPORARY VIEW request_received AS
SELECT
  host,
  seq,
  t_ns,
  request
FROM READ_PARQUET('events/request_received/*.parquet')
WHERE
  whole;
