CREATE TEMPORARY VIEW resources AS
SELECT
  host,
  seq,
  t_ns,
  alloc,
  centi_blk_io,
  centi_cpu,
  centi_gc,
  centi_mut,
  fs_rd,
  fs_wr,
  gcs_major,
  gcs_minor,
  heap,
  live,
  net_rd,
  net_wr,
  rss,
  threads
FROM READ_PARQUET('events/resources/*.parquet')
WHERE
  whole;
