WITH samples AS NOT MATERIALIZED (
  SELECT
    0 AS metric,
    CASE
      WHEN ABS(value) < 1e18
      THEN CAST(ROUND(CAST(value AS DOUBLE) * 1000000000) AS INT128)
    END AS value,
    t,
    k
  FROM (
    SELECT
      memory AS value,
      "at" AS t,
      '' AS k
    FROM jobs
    WHERE
      accepted AND ok AND NOT (
        memory
      ) IS NULL
  )
  UNION ALL
  SELECT
    1 AS metric,
    CASE
      WHEN ABS(value) < 1e18
      THEN CAST(ROUND(CAST(value AS DOUBLE) * 1000000000) AS INT128)
    END AS value,
    t,
    k
  FROM (
    SELECT
      CAST(rows AS DOUBLE) / NULLIF(seconds, 0) AS value,
      "at" AS t,
      '' AS k
    FROM jobs
    WHERE
      accepted AND ok AND NOT (
        CAST(rows AS DOUBLE) / NULLIF(seconds, 0)
      ) IS NULL
  )
  UNION ALL
  SELECT
    2 AS metric,
    CASE
      WHEN ABS(value) < 1e18
      THEN CAST(ROUND(CAST(value AS DOUBLE) * 1000000000) AS INT128)
    END AS value,
    t,
    k
  FROM (
    SELECT
      seconds AS value,
      "at" AS t,
      '' AS k
    FROM jobs
    WHERE
      accepted AND (
        ok AND job = 'export'
      ) AND NOT (
        seconds
      ) IS NULL
  )
  UNION ALL
  SELECT
    3 AS metric,
    CASE
      WHEN ABS(value) < 1e18
      THEN CAST(ROUND(CAST(value AS DOUBLE) * 1000000000) AS INT128)
    END AS value,
    t,
    k
  FROM (
    SELECT
      seconds AS value,
      "at" AS t,
      '' AS k
    FROM jobs
    WHERE
      accepted AND (
        ok AND job = 'import'
      ) AND NOT (
        seconds
      ) IS NULL
  )
  UNION ALL
  SELECT
    4 AS metric,
    CASE
      WHEN ABS(value) < 1e18
      THEN CAST(ROUND(CAST(value AS DOUBLE) * 1000000000) AS INT128)
    END AS value,
    t,
    k
  FROM (
    SELECT
      seconds AS value,
      "at" AS t,
      '' AS k
    FROM jobs
    WHERE
      accepted AND (
        ok AND job = 'merge'
      ) AND NOT (
        seconds
      ) IS NULL
  )
), times AS (
  SELECT
    metric,
    t
  FROM samples
  WHERE
    NOT t IS NULL
  GROUP BY
    metric,
    t
), bounds AS (
  SELECT
    metric,
    COUNT(*) AS units,
    MIN(t) AS lo,
    MAX(t) AS hi
  FROM times
  GROUP BY
    metric
), ranked AS (
  SELECT
    metric,
    t,
    ROW_NUMBER() OVER (PARTITION BY metric ORDER BY t) - 1 AS rank
  FROM times
  JOIN bounds
    USING (metric)
), placed AS NOT MATERIALIZED (
  SELECT
    metric,
    COALESCE(CASE WHEN units >= 189 THEN rank * 63 // units ELSE rank END, 0) AS place,
    k,
    value,
    COALESCE(units, 0) AS units
  FROM (
    SELECT
      metric,
      value,
      COALESCE(t, lo) AS t,
      k,
      units,
      lo,
      hi
    FROM samples
    LEFT JOIN bounds
      USING (metric)
  )
  LEFT JOIN ranked
    USING (metric, t)
), summed AS (
  SELECT
    metric,
    place,
    CAST(k AS TEXT) AS k,
    CAST(COALESCE(SUM(value), 0) AS INT128) AS total,
    COUNT(value) AS size,
    COUNT(*) - COUNT(value) AS lost,
    MAX(units) AS units
  FROM placed
  GROUP BY
    metric,
    place,
    k
)
SELECT
  LIST_EXTRACT(['memory', 'throughput', 'time_export', 'time_import', 'time_merge'], metric + 1) AS metric,
  CAST(place AS BIGINT) AS place,
  k AS "cluster",
  total,
  size,
  lost,
  units
FROM summed
ORDER BY
  summed.metric,
  summed.place,
  summed.k;
