SELECT
  base."block_no",
  base."slot",
  base."forger",
  base."block",
  finer_1.value AS "cdf0.50",
  finer_2.value AS "cdf0.80",
  finer_3.value AS "cdf0.96",
  finer_4.value AS "cdf1.00",
  base."cdfBlockBattle",
  base."cdfBlockSize",
  finer_5.value AS "blockMissingSteps",
  finer_6.value AS "blockNegativeSteps",
  base."cdfForgerStart",
  base."cdfForgerBlkCtx",
  base."cdfForgerLgrState",
  base."cdfForgerLgrView",
  base."cdfForgerLead",
  base."cdfForgerTicked",
  base."cdfForgerMemSnap",
  base."cdfForgerForge",
  base."cdfForgerAnnounce",
  base."cdfForgerSend",
  base."cdfForgerAdoption",
  finer_7.value AS "cdfPeerNoticeFirst",
  finer_8.value AS "cdfPeerFetchFirst",
  finer_9.value AS "cdfPeerRequest",
  finer_10.value AS "cdfPeerFetch",
  finer_11.value AS "cdfPeerAnnounce",
  finer_12.value AS "cdfPeerSend",
  finer_13.value AS "cdfPeerAdoption"
FROM (
  SELECT
    block_no,
    slot,
    forger,
    block,
    battles AS "cdfBlockBattle",
    size AS "cdfBlockSize",
    started - slot_start AS "cdfForgerStart",
    block_context_known - started AS "cdfForgerBlkCtx",
    ledger_state_known - block_context_known AS "cdfForgerLgrState",
    ledger_view_known - ledger_state_known AS "cdfForgerLgrView",
    "leading" - COALESCE(ledger_view_known, started) AS "cdfForgerLead",
    ticked - "leading" AS "cdfForgerTicked",
    snapshot - ticked AS "cdfForgerMemSnap",
    forged - COALESCE(snapshot, "leading") AS "cdfForgerForge",
    COALESCE(announced - forged, 10000000) AS "cdfForgerAnnounce",
    COALESCE(sending - forged, 10000000) AS "cdfForgerSend",
    COALESCE(adopted - forged, 10000000) AS "cdfForgerAdoption"
  FROM block
  WHERE
    accepted
) AS base
LEFT JOIN (
  SELECT
    block,
    LIST_EXTRACT(
      LIST(adopted - slot_start ORDER BY adopted - slot_start),
      LEAST(
        CAST(FLOOR(
          LEN(LIST(adopted - slot_start ORDER BY adopted - slot_start)) * CAST(0.5 AS DOUBLE)
        ) AS BIGINT),
        LEN(LIST(adopted - slot_start ORDER BY adopted - slot_start)) - 1
      ) + 1
    ) AS value
  FROM adoption
  WHERE
    accepted AND NOT (
      adopted - slot_start
    ) IS NULL
  GROUP BY
    block
) AS finer_1
  ON finer_1.block = base.block
LEFT JOIN (
  SELECT
    block,
    LIST_EXTRACT(
      LIST(adopted - slot_start ORDER BY adopted - slot_start),
      LEAST(
        CAST(FLOOR(
          LEN(LIST(adopted - slot_start ORDER BY adopted - slot_start)) * CAST(0.8 AS DOUBLE)
        ) AS BIGINT),
        LEN(LIST(adopted - slot_start ORDER BY adopted - slot_start)) - 1
      ) + 1
    ) AS value
  FROM adoption
  WHERE
    accepted AND NOT (
      adopted - slot_start
    ) IS NULL
  GROUP BY
    block
) AS finer_2
  ON finer_2.block = base.block
LEFT JOIN (
  SELECT
    block,
    LIST_EXTRACT(
      LIST(adopted - slot_start ORDER BY adopted - slot_start),
      LEAST(
        CAST(FLOOR(
          LEN(LIST(adopted - slot_start ORDER BY adopted - slot_start)) * CAST(0.96 AS DOUBLE)
        ) AS BIGINT),
        LEN(LIST(adopted - slot_start ORDER BY adopted - slot_start)) - 1
      ) + 1
    ) AS value
  FROM adoption
  WHERE
    accepted AND NOT (
      adopted - slot_start
    ) IS NULL
  GROUP BY
    block
) AS finer_3
  ON finer_3.block = base.block
LEFT JOIN (
  SELECT
    block,
    LIST_EXTRACT(
      LIST(adopted - slot_start ORDER BY adopted - slot_start),
      LEAST(
        CAST(FLOOR(
          LEN(LIST(adopted - slot_start ORDER BY adopted - slot_start)) * CAST(1.0 AS DOUBLE)
        ) AS BIGINT),
        LEN(LIST(adopted - slot_start ORDER BY adopted - slot_start)) - 1
      ) + 1
    ) AS value
  FROM adoption
  WHERE
    accepted AND NOT (
      adopted - slot_start
    ) IS NULL
  GROUP BY
    block
) AS finer_4
  ON finer_4.block = base.block
LEFT JOIN (
  SELECT
    block,
    SUM(missing) AS value
  FROM block_on_host
  WHERE
    accepted AND NOT (
      missing
    ) IS NULL
  GROUP BY
    block
) AS finer_5
  ON finer_5.block = base.block
LEFT JOIN (
  SELECT
    block,
    SUM(negative) AS value
  FROM block_on_host
  WHERE
    accepted AND NOT (
      negative
    ) IS NULL
  GROUP BY
    block
) AS finer_6
  ON finer_6.block = base.block
LEFT JOIN (
  SELECT
    block,
    MIN(noticed - slot_start) AS value
  FROM observation
  WHERE
    accepted AND valid AND NOT (
      noticed - slot_start
    ) IS NULL
  GROUP BY
    block
) AS finer_7
  ON finer_7.block = base.block
LEFT JOIN (
  SELECT
    block,
    MIN(fetched - slot_start) AS value
  FROM observation
  WHERE
    accepted AND valid AND NOT (
      fetched - slot_start
    ) IS NULL
  GROUP BY
    block
) AS finer_8
  ON finer_8.block = base.block
LEFT JOIN (
  SELECT
    block,
    CAST(SUM(requested - noticed) AS DOUBLE) / COUNT(requested - noticed) AS value
  FROM observation
  WHERE
    accepted AND valid AND NOT (
      requested - noticed
    ) IS NULL
  GROUP BY
    block
) AS finer_9
  ON finer_9.block = base.block
LEFT JOIN (
  SELECT
    block,
    CAST(SUM(fetched - requested) AS DOUBLE) / COUNT(fetched - requested) AS value
  FROM observation
  WHERE
    accepted AND valid AND NOT (
      fetched - requested
    ) IS NULL
  GROUP BY
    block
) AS finer_10
  ON finer_10.block = base.block
LEFT JOIN (
  SELECT
    block,
    CAST(SUM(announced - fetched) AS DOUBLE) / COUNT(announced - fetched) AS value
  FROM observation
  WHERE
    accepted AND valid AND NOT (
      announced - fetched
    ) IS NULL
  GROUP BY
    block
) AS finer_11
  ON finer_11.block = base.block
LEFT JOIN (
  SELECT
    block,
    CAST(SUM(sending - fetched) AS DOUBLE) / COUNT(sending - fetched) AS value
  FROM observation
  WHERE
    accepted AND valid AND NOT (
      sending - fetched
    ) IS NULL
  GROUP BY
    block
) AS finer_12
  ON finer_12.block = base.block
LEFT JOIN (
  SELECT
    block,
    CAST(SUM(adopted - fetched) AS DOUBLE) / COUNT(adopted - fetched) AS value
  FROM observation
  WHERE
    accepted AND valid AND NOT (
      adopted - fetched
    ) IS NULL
  GROUP BY
    block
) AS finer_13
  ON finer_13.block = base.block
ORDER BY
  base.block_no,
  base.slot,
  base.forger,
  base.block;
