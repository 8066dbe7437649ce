/* Forged blocks whose parent is neither the genesis nor a block forged earlier in the logs (by instant, host, */
/* position). */
WITH forgings AS (
  SELECT
    host,
    seq,
    t_ns,
    block,
    block_no,
    slot,
    block_prev,
    ROW_NUMBER() OVER (ORDER BY t_ns, host, seq) AS place
  FROM block_forged
), first_forgings AS (
  SELECT
    block,
    MIN(place) AS place,
    MIN(t_ns) AS t_ns,
    ARG_MIN(host, place) AS host
  FROM forgings
  GROUP BY
    block
)
SELECT
  child.host,
  child.block,
  child.block_no,
  child.slot,
  child.block_prev,
  COALESCE(
    parent.host || ' forged ' || (
      parent.t_ns - child.t_ns
    ) // 1000000000 || '.' || LPAD(CAST((
      (
        parent.t_ns - child.t_ns
      ) // 1000000 % 1000
    ) AS TEXT), 3, '0') || ' s later',
    'no host forged before'
  ) AS parent,
  CASE
    WHEN parent.block IS NULL
    THEN 'check whether the log of a host is missing or truncated at its start'
    ELSE 'check the clocks of ' || child.host || ' and ' || parent.host
  END AS advice
FROM forgings AS child
LEFT JOIN first_forgings AS parent
  ON parent.block = child.block_prev
WHERE
  child.block_prev <> 'GenesisHash'
  AND (
    parent.block IS NULL OR parent.place > child.place
  )
ORDER BY
  child.block_no,
  child.host,
  child.block;
