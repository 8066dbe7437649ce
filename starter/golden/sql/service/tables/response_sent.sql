CREATE TEMPORARY VIEW response_sent AS
SELECT
  host,
  seq,
  t_ns,
  bytes,
  request
FROM READ_PARQUET('events/response_sent/*.parquet')
WHERE
  whole;
