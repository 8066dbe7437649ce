CREATE TEMPORARY VIEW header_announced AS
SELECT
  host,
  seq,
  t_ns,
  block
FROM READ_PARQUET('events/header_announced/*.parquet')
WHERE
  whole;
