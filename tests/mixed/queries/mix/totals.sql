SELECT logs.host, count(failed.seq) AS failures
FROM logs LEFT JOIN failed ON failed.host = logs.host
GROUP BY logs.host
