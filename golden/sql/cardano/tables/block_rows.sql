-- `$name` stands for a constant of the run; constants.json has the values.
CREATE TEMPORARY TABLE block_rows AS
WITH bound AS (
  SELECT
    base.*,
    forged.t_ns AS forged,
    announced.t_ns AS announced,
    sending.t_ns AS sending,
    adopted.t_ns AS adopted,
    adopted.chain_delta AS adopted_chain_delta,
    sized.t_ns AS sized,
    sized.size AS sized_size,
    started.t_ns AS started,
    block_context_known.t_ns AS block_context_known,
    ledger_state_known.t_ns AS ledger_state_known,
    ledger_view_known.t_ns AS ledger_view_known,
    "leading".t_ns AS "leading",
    ticked.t_ns AS ticked,
    snapshot.t_ns AS snapshot
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
      ARG_MIN_NULL(t_ns, seq) AS t_ns
    FROM header_announced
    GROUP BY
      host,
      block
  ) AS announced
    ON announced.host = base.forger AND announced.block = base.block
  LEFT JOIN (
    SELECT
      host,
      block,
      ARG_MIN_NULL(t_ns, seq) AS t_ns
    FROM block_sent
    GROUP BY
      host,
      block
  ) AS sending
    ON sending.host = base.forger AND sending.block = base.block
  LEFT JOIN (
    SELECT
      host,
      block,
      ARG_MIN_NULL(t_ns, seq) AS t_ns,
      ARG_MIN_NULL(chain_delta, seq) AS chain_delta
    FROM block_adopted
    GROUP BY
      host,
      block
  ) AS adopted
    ON adopted.host = base.forger AND adopted.block = base.block
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
  ASOF LEFT JOIN block_context AS block_context_known
    ON block_context_known.host = base.forger AND block_context_known.seq < forged.seq
  ASOF LEFT JOIN ledger_state AS ledger_state_known
    ON ledger_state_known.host = base.forger AND ledger_state_known.seq < forged.seq
  ASOF LEFT JOIN ledger_view AS ledger_view_known
    ON ledger_view_known.host = base.forger AND ledger_view_known.seq < forged.seq
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
  ASOF LEFT JOIN ledger_ticked AS ticked
    ON ticked.host = base.forger AND ticked.seq < forged.seq
  ASOF LEFT JOIN mempool_snapshot AS snapshot
    ON snapshot.host = base.forger AND snapshot.seq < forged.seq
)
SELECT
  *,
  $system_start + (
    slot * $slot_length
  ) AS slot_start,
  sized_size AS size
FROM bound;
