-- Headers that a host downloaded, of blocks that no host forged.
SELECT
    header_seen.block,
    min(header_seen.block_no) AS block_no,
    min(header_seen.slot) AS slot,
    string_agg(DISTINCT header_seen.host, ', ' ORDER BY header_seen.host) AS hosts,
    strftime(make_timestamp_ns(min(header_seen.t_ns)), '%Y-%m-%d %H:%M:%S.%n') AS instant
FROM header_seen
ANTI JOIN block_forged ON block_forged.block = header_seen.block
GROUP BY header_seen.block
ORDER BY block_no, header_seen.block
