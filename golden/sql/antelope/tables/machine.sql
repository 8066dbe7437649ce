CREATE TEMPORARY VIEW machine AS
SELECT
  host,
  seq,
  t_ns,
  cpu,
  diskread,
  diskwrite,
  maxcpu,
  maxmem,
  mem,
  netin,
  netout
FROM READ_PARQUET('events/machine/*.parquet')
WHERE
  whole;
