-- `$name` stands for a constant of the run; constants.json has the values.
CREATE TEMPORARY TABLE slot_rows AS
WITH bound AS (
  SELECT
    base.*,
    started.t_ns AS started,
    block_context_known.t_ns AS block_context_known,
    ledger_state_known.t_ns AS ledger_state_known,
    ledger_view_known.t_ns AS ledger_view_known,
    decided.t_ns AS decided,
    COALESCE(started.n, 0) AS starts,
    COALESCE(leads.n, 0) AS leads
  FROM slots AS base
  LEFT JOIN (
    SELECT
      host,
      slot,
      ARG_MAX_NULL(t_ns, seq) AS t_ns,
      COUNT(*) AS n
    FROM leadership_check_started
    WHERE
      t_ns >= $system_start
    GROUP BY
      host,
      slot
  ) AS started
    ON started.host = base.host AND started.slot = base.slot
  LEFT JOIN (
    SELECT
      host,
      slot,
      ARG_MAX_NULL(t_ns, seq) AS t_ns
    FROM block_context
    WHERE
      t_ns >= $system_start
    GROUP BY
      host,
      slot
  ) AS block_context_known
    ON block_context_known.host = base.host AND block_context_known.slot = base.slot
  LEFT JOIN (
    SELECT
      host,
      slot,
      ARG_MAX_NULL(t_ns, seq) AS t_ns
    FROM ledger_state
    WHERE
      t_ns >= $system_start
    GROUP BY
      host,
      slot
  ) AS ledger_state_known
    ON ledger_state_known.host = base.host AND ledger_state_known.slot = base.slot
  LEFT JOIN (
    SELECT
      host,
      slot,
      ARG_MAX_NULL(t_ns, seq) AS t_ns
    FROM ledger_view
    WHERE
      t_ns >= $system_start
    GROUP BY
      host,
      slot
  ) AS ledger_view_known
    ON ledger_view_known.host = base.host AND ledger_view_known.slot = base.slot
  LEFT JOIN (
    SELECT
      host,
      slot,
      ARG_MAX_NULL(t_ns, seq) AS t_ns
    FROM leadership_decided
    WHERE
      t_ns >= $system_start
    GROUP BY
      host,
      slot
  ) AS decided
    ON decided.host = base.host AND decided.slot = base.slot
  LEFT JOIN (
    SELECT
      host,
      slot,
      COUNT(*) AS n
    FROM leadership_decided
    WHERE
      t_ns >= $system_start AND leader = TRUE
    GROUP BY
      host,
      slot
  ) AS leads
    ON leads.host = base.host AND leads.slot = base.slot
)
SELECT
  *,
  $system_start + (
    slot * $slot_length
  ) AS slot_start
FROM bound;
