-- What a host used between one `resources` event and the one before it. The first counts from 0 at 1970-01-01.
-- Compatibility: increases, 100 times increases, and shares are taken modulo 2^64, so that a counter that falls gives a huge
-- number; shares of a core are worked out in single precision and rounded up, 0 where no time has passed.
WITH increases AS (
    SELECT
        host,
        seq,
        t_ns - coalesce(lag(t_ns) OVER previous, 0) AS elapsed_ns,
        centi_cpu::HUGEINT - coalesce(lag(centi_cpu) OVER previous, 0)::HUGEINT AS centi_cpu,
        centi_gc::HUGEINT - coalesce(lag(centi_gc) OVER previous, 0)::HUGEINT AS centi_gc,
        centi_mut::HUGEINT - coalesce(lag(centi_mut) OVER previous, 0)::HUGEINT AS centi_mut,
        centi_blk_io::HUGEINT - coalesce(lag(centi_blk_io) OVER previous, 0)::HUGEINT AS centi_blk_io,
        gcs_major::HUGEINT - coalesce(lag(gcs_major) OVER previous, 0)::HUGEINT AS gcs_major,
        gcs_minor::HUGEINT - coalesce(lag(gcs_minor) OVER previous, 0)::HUGEINT AS gcs_minor,
        alloc::HUGEINT - coalesce(lag(alloc) OVER previous, 0)::HUGEINT AS alloc,
        net_rd::HUGEINT - coalesce(lag(net_rd) OVER previous, 0)::HUGEINT AS net_rd,
        net_wr::HUGEINT - coalesce(lag(net_wr) OVER previous, 0)::HUGEINT AS net_wr,
        fs_rd::HUGEINT - coalesce(lag(fs_rd) OVER previous, 0)::HUGEINT AS fs_rd,
        fs_wr::HUGEINT - coalesce(lag(fs_wr) OVER previous, 0)::HUGEINT AS fs_wr,
        rss,
        heap,
        live,
        threads
    FROM resources
    WHERE t_ns >= $system_start
    WINDOW previous AS (PARTITION BY host ORDER BY seq)
),

wrapped AS (
    SELECT
        host,
        seq,
        (elapsed_ns::DOUBLE / 1000000000)::FLOAT * 100::FLOAT AS centiseconds,
        (100 * (CASE WHEN centi_cpu < 0 THEN centi_cpu + 18446744073709551616 ELSE centi_cpu END) % 18446744073709551616)::FLOAT AS centi_cpu,
        (100 * (CASE WHEN centi_gc < 0 THEN centi_gc + 18446744073709551616 ELSE centi_gc END) % 18446744073709551616)::FLOAT AS centi_gc,
        (100 * (CASE WHEN centi_mut < 0 THEN centi_mut + 18446744073709551616 ELSE centi_mut END) % 18446744073709551616)::FLOAT AS centi_mut,
        (100 * (CASE WHEN centi_blk_io < 0 THEN centi_blk_io + 18446744073709551616 ELSE centi_blk_io END) % 18446744073709551616)::FLOAT AS centi_blk_io,
        (CASE WHEN gcs_major < 0 THEN gcs_major + 18446744073709551616 ELSE gcs_major END)::UBIGINT AS gcs_major,
        (CASE WHEN gcs_minor < 0 THEN gcs_minor + 18446744073709551616 ELSE gcs_minor END)::UBIGINT AS gcs_minor,
        (CASE WHEN alloc < 0 THEN alloc + 18446744073709551616 ELSE alloc END)::UBIGINT AS alloc,
        (CASE WHEN net_rd < 0 THEN net_rd + 18446744073709551616 ELSE net_rd END)::UBIGINT AS net_rd,
        (CASE WHEN net_wr < 0 THEN net_wr + 18446744073709551616 ELSE net_wr END)::UBIGINT AS net_wr,
        (CASE WHEN fs_rd < 0 THEN fs_rd + 18446744073709551616 ELSE fs_rd END)::UBIGINT AS fs_rd,
        (CASE WHEN fs_wr < 0 THEN fs_wr + 18446744073709551616 ELSE fs_wr END)::UBIGINT AS fs_wr,
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
        WHEN wrapped.centiseconds = 0 THEN 0
        ELSE ((ceil(wrapped.centi_cpu / wrapped.centiseconds)::HUGEINT % 18446744073709551616 + 18446744073709551616) % 18446744073709551616)::UBIGINT
    END AS cpu,
    CASE
        WHEN wrapped.centiseconds = 0 THEN 0
        ELSE ((ceil(wrapped.centi_gc / wrapped.centiseconds)::HUGEINT % 18446744073709551616 + 18446744073709551616) % 18446744073709551616)::UBIGINT
    END AS gc,
    CASE
        WHEN wrapped.centiseconds = 0 THEN 0
        ELSE ((ceil(wrapped.centi_mut / wrapped.centiseconds)::HUGEINT % 18446744073709551616 + 18446744073709551616) % 18446744073709551616)::UBIGINT
    END AS mut,
    CASE
        WHEN wrapped.centiseconds = 0 THEN 0
        ELSE ((ceil(wrapped.centi_blk_io / wrapped.centiseconds)::HUGEINT % 18446744073709551616 + 18446744073709551616) % 18446744073709551616)::UBIGINT
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
INNER JOIN slot_marks ON slot_marks.host = wrapped.host AND slot_marks.seq = wrapped.seq
