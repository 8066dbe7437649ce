CREATE TEMPORARY VIEW block_context AS
SELECT
  host,
  seq,
  t_ns,
  block_no,
  slot
FROM READ_PARQUET('events/block_context/*.parquet')
WHERE
  whole;
