-- The events that extend a host's slot timeline: the slot of each (the one it names, or that its instant lies in), and
-- the latest slot of the timeline once it has come, and before.
-- Events before the start of the system do not count.
WITH marks AS (
    SELECT host, seq, t_ns, 'started' AS mark, slot
    FROM leadership_check_started
    WHERE t_ns >= $system_start
    UNION ALL
    SELECT host, seq, t_ns, 'resources' AS mark, (t_ns - $system_start) // $slot_length AS slot
    FROM resources
    WHERE t_ns >= $system_start
),

successive AS (
    SELECT marks.*, lag(slot) OVER (PARTITION BY host ORDER BY seq) AS preceding
    FROM marks
),

-- Slots mostly ascend, and where they do the greatest so far is the mark's own. So it is enough to know the greatest of
-- those after which they fall; that of all marks, as a running value, takes three times as long.
peaks AS (
    SELECT
        host,
        seq,
        max(preceding) OVER (
            PARTITION BY host ORDER BY seq ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
        ) AS slot
    FROM successive
    WHERE slot < preceding
),

reached AS (
    SELECT successive.*, openings.slot AS opening, greatest(openings.slot, successive.slot, peaks.slot) AS latest
    FROM successive
    ASOF LEFT JOIN peaks ON peaks.host = successive.host AND peaks.seq <= successive.seq
    INNER JOIN openings ON openings.host = successive.host
)

SELECT
    host,
    seq,
    t_ns,
    mark,
    opening,
    slot,
    latest,
    coalesce(lag(latest) OVER (PARTITION BY host ORDER BY seq), opening) AS before
FROM reached
