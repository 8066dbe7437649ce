WITH samples AS (
  SELECT
    host AS per,
    mut AS value
  FROM slot
  WHERE
    accepted AND NOT (
      mut
    ) IS NULL
), ordered AS (
  SELECT
    per,
    LIST(value ORDER BY value) AS ordered_values,
    COUNT(value) AS size,
    SUM(value) AS total
  FROM samples
  GROUP BY
    per
), averaged AS (
  SELECT
    *,
    CAST(total AS DOUBLE) / size AS mean
  FROM ordered
), distributions AS (
  SELECT
    per,
    size,
    mean,
    COALESCE(LIST_AGGREGATE(ordered_values, 'stddev_samp'), CAST(0.0 AS DOUBLE)) AS stddev,
    LIST_TRANSFORM(
      CAST('[0.0, 0.01, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.875, 0.9, 0.925, 0.95, 0.97, 0.98, 0.99, 0.995, 0.997, 0.998, 0.999, 0.9995, 0.9997, 0.9998, 0.9999, 1.0]' AS DOUBLE[]),
      LAMBDA c : LIST_EXTRACT(ordered_values, LEAST(CAST(FLOOR(size * c) AS BIGINT), size - 1) + 1)
    ) AS centiles
  FROM averaged
), domain AS (
  SELECT DISTINCT
    host AS per
  FROM slot
  WHERE
    NOT host IS NULL
)
/* CentiMut: RTS Mutator CPU usage */
/* definition 0eb6a0016bc253bc7b4a60c0d612d1602a3bca45b25fed6a87283a9b6a418980 */
SELECT
  domain.per,
  distributions.size,
  distributions.mean,
  distributions.stddev,
  distributions.centiles
FROM domain
LEFT JOIN distributions
  ON distributions.per = domain.per
ORDER BY
  domain.per;
