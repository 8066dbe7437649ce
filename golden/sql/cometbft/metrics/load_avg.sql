WITH samples AS (
  SELECT
    average_load AS value
  FROM sampled_machine
  WHERE
    NOT (
      average_load
    ) IS NULL
), ordered AS (
  SELECT
    LIST(value ORDER BY value) AS ordered_values,
    COUNT(value) AS size
  FROM samples
), averaged AS (
  SELECT
    *,
    LIST_AGGREGATE(ordered_values, 'fsum') / size AS mean
  FROM ordered
)
/* load_avg: Average load */
/* definition 6874a400b59e0b78643e26dc84df89d0c1d068952850c2e9ac34a830d289c5df */
SELECT
  size,
  mean,
  COALESCE(LIST_AGGREGATE(ordered_values, 'stddev_samp'), CAST(0.0 AS DOUBLE)) AS stddev,
  LIST_TRANSFORM(
    CAST('[0.0, 0.01, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.875, 0.9, 0.925, 0.95, 0.97, 0.98, 0.99, 0.995, 0.997, 0.998, 0.999, 0.9995, 0.9997, 0.9998, 0.9999, 1.0]' AS DOUBLE[]),
    LAMBDA c : LIST_EXTRACT(ordered_values, LEAST(CAST(FLOOR(size * c) AS BIGINT), size - 1) + 1)
  ) AS centiles
FROM averaged;
