/* Headers that a host downloaded, of blocks that no host forged. */
SELECT
  header_seen.block,
  MIN(header_seen.block_no) AS block_no,
  MIN(header_seen.slot) AS slot,
  LISTAGG(DISTINCT header_seen.host, ', '
  ORDER BY
    header_seen.host) AS hosts,
  STRFTIME(MAKE_TIMESTAMP_NS(MIN(header_seen.t_ns)), '%Y-%m-%d %H:%M:%S.%n') AS instant
FROM header_seen
ANTI JOIN block_forged
  ON block_forged.block = header_seen.block
GROUP BY
  header_seen.block
ORDER BY
  block_no,
  header_seen.block;
