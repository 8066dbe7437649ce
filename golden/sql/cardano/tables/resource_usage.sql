-- `$name` stands for a constant of the run; constants.json has the values.
CREATE TEMPORARY TABLE resource_usage AS
/* Resource usage of a host between consecutive `resources` events. */
/* Compatibility: the first increase counts from 0 at 1970-01-01; increases, 100 times these, and shares are modulo 2^64, */
/* so a decreasing counter gives a huge number; shares of a core are in single precision and rounded up, 0 where no time */
/* has passed. */
WITH successive AS (
  SELECT
    resources.*,
    LAG(t_ns, 1, 0) OVER previous AS t_ns_before,
    LAG(centi_cpu, 1, 0) OVER previous AS centi_cpu_before,
    LAG(centi_gc, 1, 0) OVER previous AS centi_gc_before,
    LAG(centi_mut, 1, 0) OVER previous AS centi_mut_before,
    LAG(centi_blk_io, 1, 0) OVER previous AS centi_blk_io_before,
    LAG(gcs_major, 1, 0) OVER previous AS gcs_major_before,
    LAG(gcs_minor, 1, 0) OVER previous AS gcs_minor_before,
    LAG(alloc, 1, 0) OVER previous AS alloc_before,
    LAG(net_rd, 1, 0) OVER previous AS net_rd_before,
    LAG(net_wr, 1, 0) OVER previous AS net_wr_before,
    LAG(fs_rd, 1, 0) OVER previous AS fs_rd_before,
    LAG(fs_wr, 1, 0) OVER previous AS fs_wr_before
  FROM resources
  WHERE
    t_ns >= $system_start
  WINDOW previous AS (PARTITION BY host ORDER BY seq)
), increases /* The increase, or 2^64 minus the decrease. */ AS (
  SELECT
    host,
    seq,
    (
      t_ns - $system_start
    ) // $slot_length AS slot,
    CAST((
      CAST((
        t_ns - t_ns_before
      ) AS DOUBLE) / 1000000000
    ) AS REAL) * CAST(100 AS REAL) AS centiseconds,
    CASE
      WHEN centi_cpu >= centi_cpu_before
      THEN centi_cpu - centi_cpu_before
      ELSE CAST(18446744073709551615 AS UBIGINT) - (
        centi_cpu_before - centi_cpu
      ) + 1
    END AS centi_cpu,
    CASE
      WHEN centi_gc >= centi_gc_before
      THEN centi_gc - centi_gc_before
      ELSE CAST(18446744073709551615 AS UBIGINT) - (
        centi_gc_before - centi_gc
      ) + 1
    END AS centi_gc,
    CASE
      WHEN centi_mut >= centi_mut_before
      THEN centi_mut - centi_mut_before
      ELSE CAST(18446744073709551615 AS UBIGINT) - (
        centi_mut_before - centi_mut
      ) + 1
    END AS centi_mut,
    CASE
      WHEN centi_blk_io >= centi_blk_io_before
      THEN centi_blk_io - centi_blk_io_before
      ELSE CAST(18446744073709551615 AS UBIGINT) - (
        centi_blk_io_before - centi_blk_io
      ) + 1
    END AS centi_blk_io,
    CASE
      WHEN gcs_major >= gcs_major_before
      THEN gcs_major - gcs_major_before
      ELSE CAST(18446744073709551615 AS UBIGINT) - (
        gcs_major_before - gcs_major
      ) + 1
    END AS gcs_major,
    CASE
      WHEN gcs_minor >= gcs_minor_before
      THEN gcs_minor - gcs_minor_before
      ELSE CAST(18446744073709551615 AS UBIGINT) - (
        gcs_minor_before - gcs_minor
      ) + 1
    END AS gcs_minor,
    CASE
      WHEN alloc >= alloc_before
      THEN alloc - alloc_before
      ELSE CAST(18446744073709551615 AS UBIGINT) - (
        alloc_before - alloc
      ) + 1
    END AS alloc,
    CASE
      WHEN net_rd >= net_rd_before
      THEN net_rd - net_rd_before
      ELSE CAST(18446744073709551615 AS UBIGINT) - (
        net_rd_before - net_rd
      ) + 1
    END AS net_rd,
    CASE
      WHEN net_wr >= net_wr_before
      THEN net_wr - net_wr_before
      ELSE CAST(18446744073709551615 AS UBIGINT) - (
        net_wr_before - net_wr
      ) + 1
    END AS net_wr,
    CASE
      WHEN fs_rd >= fs_rd_before
      THEN fs_rd - fs_rd_before
      ELSE CAST(18446744073709551615 AS UBIGINT) - (
        fs_rd_before - fs_rd
      ) + 1
    END AS fs_rd,
    CASE
      WHEN fs_wr >= fs_wr_before
      THEN fs_wr - fs_wr_before
      ELSE CAST(18446744073709551615 AS UBIGINT) - (
        fs_wr_before - fs_wr
      ) + 1
    END AS fs_wr,
    (
      centi_cpu < centi_cpu_before
      OR centi_gc < centi_gc_before
      OR centi_mut < centi_mut_before
      OR centi_blk_io < centi_blk_io_before
      OR gcs_major < gcs_major_before
      OR gcs_minor < gcs_minor_before
      OR alloc < alloc_before
      OR net_rd < net_rd_before
      OR net_wr < net_wr_before
      OR fs_rd < fs_rd_before
      OR fs_wr < fs_wr_before
    ) AS fell,
    rss,
    heap,
    live,
    threads
  FROM successive
), products /* Integers of 128 bits are slow: only values that may be 2^53 or more, or negative, are computed with them. */ AS (
  SELECT
    increases.*,
    CASE
      WHEN centi_cpu < 90071992547409
      THEN CAST((
        100 * centi_cpu
      ) AS REAL)
      ELSE CAST((
        100 * CAST(centi_cpu AS INT128) % 18446744073709551616
      ) AS REAL)
    END AS cpu,
    CASE
      WHEN centi_gc < 90071992547409
      THEN CAST((
        100 * centi_gc
      ) AS REAL)
      ELSE CAST((
        100 * CAST(centi_gc AS INT128) % 18446744073709551616
      ) AS REAL)
    END AS gc,
    CASE
      WHEN centi_mut < 90071992547409
      THEN CAST((
        100 * centi_mut
      ) AS REAL)
      ELSE CAST((
        100 * CAST(centi_mut AS INT128) % 18446744073709551616
      ) AS REAL)
    END AS mut,
    CASE
      WHEN centi_blk_io < 90071992547409
      THEN CAST((
        100 * centi_blk_io
      ) AS REAL)
      ELSE CAST((
        100 * CAST(centi_blk_io AS INT128) % 18446744073709551616
      ) AS REAL)
    END AS blk_io
  FROM increases
)
SELECT
  host,
  seq,
  slot,
  CASE
    WHEN centiseconds = 0
    THEN 0
    WHEN CEIL(cpu / centiseconds) BETWEEN 0 AND 9007199254740992
    THEN CAST(CEIL(cpu / centiseconds) AS UBIGINT)
    ELSE CAST((
      (
        CAST(CEIL(cpu / centiseconds) AS INT128) % 18446744073709551616 + 18446744073709551616
      ) % 18446744073709551616
    ) AS UBIGINT)
  END AS cpu,
  CASE
    WHEN centiseconds = 0
    THEN 0
    WHEN CEIL(gc / centiseconds) BETWEEN 0 AND 9007199254740992
    THEN CAST(CEIL(gc / centiseconds) AS UBIGINT)
    ELSE CAST((
      (
        CAST(CEIL(gc / centiseconds) AS INT128) % 18446744073709551616 + 18446744073709551616
      ) % 18446744073709551616
    ) AS UBIGINT)
  END AS gc,
  CASE
    WHEN centiseconds = 0
    THEN 0
    WHEN CEIL(mut / centiseconds) BETWEEN 0 AND 9007199254740992
    THEN CAST(CEIL(mut / centiseconds) AS UBIGINT)
    ELSE CAST((
      (
        CAST(CEIL(mut / centiseconds) AS INT128) % 18446744073709551616 + 18446744073709551616
      ) % 18446744073709551616
    ) AS UBIGINT)
  END AS mut,
  CASE
    WHEN centiseconds = 0
    THEN 0
    WHEN CEIL(blk_io / centiseconds) BETWEEN 0 AND 9007199254740992
    THEN CAST(CEIL(blk_io / centiseconds) AS UBIGINT)
    ELSE CAST((
      (
        CAST(CEIL(blk_io / centiseconds) AS INT128) % 18446744073709551616 + 18446744073709551616
      ) % 18446744073709551616
    ) AS UBIGINT)
  END AS blk_io,
  gcs_major,
  gcs_minor,
  alloc,
  net_rd,
  net_wr,
  fs_rd,
  fs_wr,
  rss,
  heap,
  live,
  threads,
  fell
FROM products;
