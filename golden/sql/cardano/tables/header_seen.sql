CREATE TEMPORARY VIEW header_seen AS
SELECT
  host,
  seq,
  t_ns,
  block,
  block_no,
  slot
FROM READ_PARQUET('events/header_seen/*.parquet')
WHERE
  whole;
