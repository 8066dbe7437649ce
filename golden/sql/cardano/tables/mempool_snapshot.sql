CREATE TEMPORARY VIEW mempool_snapshot AS
SELECT
  host,
  seq,
  t_ns,
  slot
FROM READ_PARQUET('events/mempool_snapshot/*.parquet')
WHERE
  whole;
