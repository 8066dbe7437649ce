-- `$name` stands for a constant of the run; constants.json has the values.
CREATE TEMPORARY TABLE resource_usage AS
/* What a host used between one `resources` event and the one before it. The first counts from 0 at 1970-01-01. */
/* Compatibility: increases, 100 times increases, and shares are taken modulo 2^64, so that a counter that falls gives a huge */
/* number; shares of a core are worked out in single precision and rounded up, 0 where no time has passed. */
WITH increases AS (
  SELECT
    host,
    seq,
    t_ns - COALESCE(LAG(t_ns) OVER previous, 0) AS elapsed_ns,
    CAST(centi_cpu AS INT128) - CAST(COALESCE(LAG(centi_cpu) OVER previous, 0) AS INT128) AS centi_cpu,
    CAST(centi_gc AS INT128) - CAST(COALESCE(LAG(centi_gc) OVER previous, 0) AS INT128) AS centi_gc,
    CAST(centi_mut AS INT128) - CAST(COALESCE(LAG(centi_mut) OVER previous, 0) AS INT128) AS centi_mut,
    CAST(centi_blk_io AS INT128) - CAST(COALESCE(LAG(centi_blk_io) OVER previous, 0) AS INT128) AS centi_blk_io,
    CAST(gcs_major AS INT128) - CAST(COALESCE(LAG(gcs_major) OVER previous, 0) AS INT128) AS gcs_major,
    CAST(gcs_minor AS INT128) - CAST(COALESCE(LAG(gcs_minor) OVER previous, 0) AS INT128) AS gcs_minor,
    CAST(alloc AS INT128) - CAST(COALESCE(LAG(alloc) OVER previous, 0) AS INT128) AS alloc,
    CAST(net_rd AS INT128) - CAST(COALESCE(LAG(net_rd) OVER previous, 0) AS INT128) AS net_rd,
    CAST(net_wr AS INT128) - CAST(COALESCE(LAG(net_wr) OVER previous, 0) AS INT128) AS net_wr,
    CAST(fs_rd AS INT128) - CAST(COALESCE(LAG(fs_rd) OVER previous, 0) AS INT128) AS fs_rd,
    CAST(fs_wr AS INT128) - CAST(COALESCE(LAG(fs_wr) OVER previous, 0) AS INT128) AS fs_wr,
    rss,
    heap,
    live,
    threads
  FROM resources
  WHERE
    t_ns >= $system_start
  WINDOW previous AS (PARTITION BY host ORDER BY seq)
), wrapped AS (
  SELECT
    host,
    seq,
    CAST((
      CAST(elapsed_ns AS DOUBLE) / 1000000000
    ) AS REAL) * CAST(100 AS REAL) AS centiseconds,
    CAST((
      100 * (
        CASE WHEN centi_cpu < 0 THEN centi_cpu + 18446744073709551616 ELSE centi_cpu END
      ) % 18446744073709551616
    ) AS REAL) AS centi_cpu,
    CAST((
      100 * (
        CASE WHEN centi_gc < 0 THEN centi_gc + 18446744073709551616 ELSE centi_gc END
      ) % 18446744073709551616
    ) AS REAL) AS centi_gc,
    CAST((
      100 * (
        CASE WHEN centi_mut < 0 THEN centi_mut + 18446744073709551616 ELSE centi_mut END
      ) % 18446744073709551616
    ) AS REAL) AS centi_mut,
    CAST((
      100 * (
        CASE
          WHEN centi_blk_io < 0
          THEN centi_blk_io + 18446744073709551616
          ELSE centi_blk_io
        END
      ) % 18446744073709551616
    ) AS REAL) AS centi_blk_io,
    CAST((
      CASE WHEN gcs_major < 0 THEN gcs_major + 18446744073709551616 ELSE gcs_major END
    ) AS UBIGINT) AS gcs_major,
    CAST((
      CASE WHEN gcs_minor < 0 THEN gcs_minor + 18446744073709551616 ELSE gcs_minor END
    ) AS UBIGINT) AS gcs_minor,
    CAST((
      CASE WHEN alloc < 0 THEN alloc + 18446744073709551616 ELSE alloc END
    ) AS UBIGINT) AS alloc,
    CAST((
      CASE WHEN net_rd < 0 THEN net_rd + 18446744073709551616 ELSE net_rd END
    ) AS UBIGINT) AS net_rd,
    CAST((
      CASE WHEN net_wr < 0 THEN net_wr + 18446744073709551616 ELSE net_wr END
    ) AS UBIGINT) AS net_wr,
    CAST((
      CASE WHEN fs_rd < 0 THEN fs_rd + 18446744073709551616 ELSE fs_rd END
    ) AS UBIGINT) AS fs_rd,
    CAST((
      CASE WHEN fs_wr < 0 THEN fs_wr + 18446744073709551616 ELSE fs_wr END
    ) AS UBIGINT) AS fs_wr,
    rss,
    heap,
    live,
    threads
  FROM increases
)
SELECT
  wrapped.host,
  wrapped.seq,
  slot_marks.slot,
  CASE
    WHEN wrapped.centiseconds = 0
    THEN 0
    ELSE CAST((
      (
        CAST(CEIL(wrapped.centi_cpu / wrapped.centiseconds) AS INT128) % 18446744073709551616 + 18446744073709551616
      ) % 18446744073709551616
    ) AS UBIGINT)
  END AS cpu,
  CASE
    WHEN wrapped.centiseconds = 0
    THEN 0
    ELSE CAST((
      (
        CAST(CEIL(wrapped.centi_gc / wrapped.centiseconds) AS INT128) % 18446744073709551616 + 18446744073709551616
      ) % 18446744073709551616
    ) AS UBIGINT)
  END AS gc,
  CASE
    WHEN wrapped.centiseconds = 0
    THEN 0
    ELSE CAST((
      (
        CAST(CEIL(wrapped.centi_mut / wrapped.centiseconds) AS INT128) % 18446744073709551616 + 18446744073709551616
      ) % 18446744073709551616
    ) AS UBIGINT)
  END AS mut,
  CASE
    WHEN wrapped.centiseconds = 0
    THEN 0
    ELSE CAST((
      (
        CAST(CEIL(wrapped.centi_blk_io / wrapped.centiseconds) AS INT128) % 18446744073709551616 + 18446744073709551616
      ) % 18446744073709551616
    ) AS UBIGINT)
  END AS blk_io,
  wrapped.gcs_major,
  wrapped.gcs_minor,
  wrapped.alloc,
  wrapped.net_rd,
  wrapped.net_wr,
  wrapped.fs_rd,
  wrapped.fs_wr,
  wrapped.rss,
  wrapped.heap,
  wrapped.live,
  wrapped.threads
FROM wrapped
INNER JOIN slot_marks
  ON slot_marks.host = wrapped.host AND slot_marks.seq = wrapped.seq;
