WITH samples AS (
  SELECT
    forged - COALESCE(snapshot, "leading") AS value
  FROM block
  WHERE
    accepted AND NOT (
      forged - COALESCE(snapshot, "leading")
    ) IS NULL
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
/* cdfForgerForge: Leadership to forged */
/* definition f5b47ae89437ec54e78f976e8e6b8807b6dfae1af8ed3652609390d78340a169 */
SELECT
  size,
  mean,
  COALESCE(LIST_AGGREGATE(ordered_values, 'stddev_samp'), CAST(0.0 AS DOUBLE)) AS stddev,
  LIST_TRANSFORM(
    CAST('[0.0, 0.01, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.875, 0.9, 0.925, 0.95, 0.97, 0.98, 0.99, 0.995, 0.997, 0.998, 0.999, 0.9995, 0.9997, 0.9998, 0.9999, 1.0]' AS DOUBLE[]),
    LAMBDA c : LIST_EXTRACT(ordered_values, LEAST(CAST(FLOOR(size * c) AS BIGINT), size - 1) + 1)
  ) AS centiles
FROM averaged;
