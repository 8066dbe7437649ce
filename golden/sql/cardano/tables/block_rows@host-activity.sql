CREATE TEMPORARY TABLE block_rows AS
WITH bound AS (
  SELECT
    base.*,
    forged.t_ns AS forged,
    sized.t_ns AS sized,
    sized.size AS sized_size,
    started.t_ns AS started,
    "leading".t_ns AS "leading"
  FROM chain AS base
  LEFT JOIN (
    SELECT
      host,
      block,
      ARG_MIN_NULL(t_ns, seq) AS t_ns,
      MIN(seq) AS seq
    FROM block_forged
    GROUP BY
      host,
      block
  ) AS forged
    ON forged.host = base.forger AND forged.block = base.block
  LEFT JOIN (
    SELECT
      host,
      block,
      ARG_MIN_NULL(t_ns, seq) AS t_ns,
      ARG_MIN_NULL(size, seq) AS size
    FROM block_adopted
    WHERE
      NOT size IS NULL
    GROUP BY
      host,
      block
  ) AS sized
    ON sized.host = base.forger AND sized.block = base.block
  ASOF LEFT JOIN leadership_check_started AS started
    ON started.host = base.forger AND started.seq < forged.seq
  ASOF LEFT JOIN (
    SELECT
      host,
      seq,
      t_ns
    FROM leadership_decided
    WHERE
      leader = TRUE
  ) AS "leading"
    ON "leading".host = base.forger AND "leading".seq < forged.seq
)
SELECT
  *,
  sized_size AS size
FROM bound;
