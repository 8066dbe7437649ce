CREATE TEMPORARY VIEW finalized AS
SELECT
  host,
  seq,
  t_ns,
  height,
  transactions
FROM READ_PARQUET('events/finalized/*.parquet')
WHERE
  whole;
