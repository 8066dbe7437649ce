-- `$name` stands for a constant of the run; constants.json has the values.
CREATE TEMPORARY TABLE slot_marks AS
/* The events that extend a host's slot timeline: the slot of each (the one it names, or that its instant lies in), and */
/* the latest slot of the timeline once it has come, and before. */
/* Events before the start of the system do not count. */
WITH marks AS (
  SELECT
    host,
    seq,
    t_ns,
    'started' AS mark,
    slot,
    utxo_size,
    chain_density
  FROM leadership_check_started
  WHERE
    t_ns >= $system_start
  UNION ALL
  SELECT
    host,
    seq,
    t_ns,
    'resources' AS mark,
    (
      t_ns - $system_start
    ) // $slot_length AS slot,
    NULL AS utxo_size,
    NULL AS chain_density
  FROM resources
  WHERE
    t_ns >= $system_start
)
SELECT
  marks.host,
  marks.seq,
  marks.t_ns,
  marks.mark,
  openings.slot AS opening,
  marks.slot,
  GREATEST(
    openings.slot,
    MAX(marks.slot) OVER (
      PARTITION BY marks.host
      ORDER BY marks.seq
      ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
    )
  ) AS latest,
  GREATEST(
    openings.slot,
    MAX(marks.slot) OVER (
      PARTITION BY marks.host
      ORDER BY marks.seq
      ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    )
  ) AS before,
  marks.utxo_size,
  marks.chain_density
FROM marks
INNER JOIN openings
  ON openings.host = marks.host;
