CREATE TEMPORARY VIEW irreversible_block AS
SELECT
  host,
  seq,
  t_ns,
  series,
  instance,
  job,
  value
FROM READ_PARQUET('events/irreversible_block/*.parquet')
WHERE
  whole;
