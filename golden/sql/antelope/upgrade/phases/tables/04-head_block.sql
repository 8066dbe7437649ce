CREATE TEMPORARY VIEW head_block AS
SELECT
  host,
  seq,
  t_ns
FROM READ_PARQUET('events/head_block/*.parquet')
WHERE
  whole;
