/* Experiments whose rows have several configurations. */
SELECT
  experiment_id,
  COUNT(*) AS configurations,
  LISTAGG(
    connections || ' x ' || rate || ' tx/s of ' || size || ' bytes', ', '
    ORDER BY
      connections,
      rate,
      size
  ) AS settings
FROM (
  SELECT DISTINCT
    experiment_id,
    connections,
    rate,
    size
  FROM loaded
)
GROUP BY
  experiment_id
HAVING
  COUNT(*) > 1
ORDER BY
  experiment_id;
