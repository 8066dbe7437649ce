WITH samples AS (
  SELECT
    block,
    LIST_EXTRACT(
      LIST(adopted - slot_start ORDER BY adopted - slot_start),
      LEAST(
        CAST(FLOOR(
          LEN(LIST(adopted - slot_start ORDER BY adopted - slot_start)) * CAST(0.98 AS DOUBLE)
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
), ordered AS (
  SELECT
    LIST(value ORDER BY value) AS ordered_values,
    COUNT(value) AS size,
    SUM(value) AS total
  FROM samples
), averaged AS (
  SELECT
    *,
    CAST(total AS DOUBLE) / size AS mean
  FROM ordered
)
/* cdf0.98: 0.98 adoption */
/* definition 2fc019cba3cd39dfa0a83a9df0cc08a60f4d3b97ea6d0f4499e6ccab1f92cf21 */
SELECT
  size,
  mean,
  COALESCE(LIST_AGGREGATE(ordered_values, 'stddev_samp'), CAST(0.0 AS DOUBLE)) AS stddev,
  LIST_TRANSFORM(
    CAST('[0.0, 0.01, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.875, 0.9, 0.925, 0.95, 0.97, 0.98, 0.99, 0.995, 0.997, 0.998, 0.999, 0.9995, 0.9997, 0.9998, 0.9999, 1.0]' AS DOUBLE[]),
    LAMBDA c : LIST_EXTRACT(ordered_values, LEAST(CAST(FLOOR(size * c) AS BIGINT), size - 1) + 1)
  ) AS centiles
FROM averaged;
