SELECT
  host,
  since_start AS "pair_since_start",
  tps AS "pair_tps"
FROM pair
ORDER BY
  place;
