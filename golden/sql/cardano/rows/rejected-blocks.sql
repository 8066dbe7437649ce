SELECT
  base."block_no",
  base."slot",
  base."forger",
  base."block",
  base."rejected_by",
  finer_1.value AS "cdf0.50",
  finer_2.value AS "cdf0.80",
  finer_3.value AS "cdf0.96",
  finer_4.value AS "cdf1.00",
  base."cdfBlockBattle",
  base."cdfBlockSize",
  finer_5.value AS "blockMissingSteps",
  finer_6.value AS "blockNegativeSteps"
FROM (
  SELECT
    block_no,
    slot,
    forger,
    block,
    CONCAT_WS(', ', CASE WHEN NOT passes_1 THEN 'unitary' END) AS rejected_by,
    battles AS "cdfBlockBattle",
    size AS "cdfBlockSize"
  FROM block
  WHERE
    NOT accepted
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
    NOT (
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
    NOT (
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
    NOT (
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
    NOT (
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
    NOT (
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
    NOT (
      negative
    ) IS NULL
  GROUP BY
    block
) AS finer_6
  ON finer_6.block = base.block
ORDER BY
  base.block_no,
  base.slot,
  base.forger,
  base.block;
