CREATE TEMPORARY VIEW header_seen AS
SELECT
  host,
  seq,
  t_ns,
  slot
FROM READ_PARQUET('events/header_seen/*.parquet')
WHERE
  whole;
