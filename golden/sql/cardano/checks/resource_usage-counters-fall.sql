-- `$name` stands for a constant of the run; constants.json has the values.
/* Resources events with a lower counter than the previous event of the host: a restarted node, or logs of several runs. */
/* The increase of such an event is computed modulo 2^64. Only hosts with such events are searched. */
WITH suspects AS (
  SELECT DISTINCT
    host
  FROM resource_usage
  WHERE
    fell
), successive AS (
  SELECT
    host,
    seq,
    t_ns,
    centi_cpu < LAG(centi_cpu) OVER previous AS cpu,
    centi_gc < LAG(centi_gc) OVER previous AS gc,
    centi_mut < LAG(centi_mut) OVER previous AS mut,
    centi_blk_io < LAG(centi_blk_io) OVER previous AS blk_io,
    gcs_major < LAG(gcs_major) OVER previous AS gcs_major,
    gcs_minor < LAG(gcs_minor) OVER previous AS gcs_minor,
    alloc < LAG(alloc) OVER previous AS alloc,
    net_rd < LAG(net_rd) OVER previous AS net_rd,
    net_wr < LAG(net_wr) OVER previous AS net_wr,
    fs_rd < LAG(fs_rd) OVER previous AS fs_rd,
    fs_wr < LAG(fs_wr) OVER previous AS fs_wr
  FROM resources
  SEMI JOIN suspects
    ON suspects.host = resources.host
  WHERE
    t_ns >= $system_start
  WINDOW previous AS (PARTITION BY host ORDER BY seq)
), falling AS (
  SELECT
    host,
    seq,
    t_ns,
    CONCAT_WS(
      ', ',
      CASE WHEN cpu THEN 'CentiCpu' END,
      CASE WHEN gc THEN 'CentiGC' END,
      CASE WHEN mut THEN 'CentiMut' END,
      CASE WHEN blk_io THEN 'CentiBlkIO' END,
      CASE WHEN gcs_major THEN 'GcsMajor' END,
      CASE WHEN gcs_minor THEN 'GcsMinor' END,
      CASE WHEN alloc THEN 'Alloc' END,
      CASE WHEN net_rd THEN 'NetRd' END,
      CASE WHEN net_wr THEN 'NetWr' END,
      CASE WHEN fs_rd THEN 'FsRd' END,
      CASE WHEN fs_wr THEN 'FsWr' END
    ) AS counters
  FROM successive
  WHERE
    cpu
    OR gc
    OR mut
    OR blk_io
    OR gcs_major
    OR gcs_minor
    OR alloc
    OR net_rd
    OR net_wr
    OR fs_rd
    OR fs_wr
), counted AS (
  SELECT
    COUNT(*) AS events,
    COUNT(DISTINCT host) AS hosts
  FROM falling
)
SELECT
  falling.host,
  falling.counters,
  STRFTIME(MAKE_TIMESTAMP_NS(falling.t_ns), '%Y-%m-%d %H:%M:%S.%n') AS instant,
  CASE counted.events WHEN 1 THEN 'one event' ELSE counted.events || ' events' END AS events,
  CASE counted.hosts WHEN 1 THEN 'one host' ELSE counted.hosts || ' hosts' END AS hosts
FROM falling
CROSS JOIN counted
ORDER BY
  falling.host,
  falling.seq
LIMIT 1;
