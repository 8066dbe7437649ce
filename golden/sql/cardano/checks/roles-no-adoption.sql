/* Hosts whose forge loop runs, but that neither forge nor adopt a block. */
WITH active AS (
  SELECT
    host
  FROM block_forged
  UNION
  SELECT
    host
  FROM block_adopted
  UNION
  SELECT
    host
  FROM fork_switched
)
SELECT
  LISTAGG(
    DISTINCT leadership_check_started.host, ', '
    ORDER BY
      leadership_check_started.host
  ) AS hosts
FROM leadership_check_started
ANTI JOIN active
  ON active.host = leadership_check_started.host
HAVING
  COUNT(*) > 0;
