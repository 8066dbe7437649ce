-- Do the orders in a query tell all rows apart? If not, the error points to the word below the statement.

SELECT host, request FROM received ORDER BY host, seq LIMIT 15;
sufficient

SELECT host, request FROM received ORDER BY seq DESC, host LIMIT 15;
sufficient

SELECT host, request FROM received ORDER BY host, request LIMIT 15;
sufficient

SELECT host, request FROM received ORDER BY 1, 2 LIMIT 15;
sufficient

SELECT host, request FROM received ORDER BY ALL LIMIT 15;
sufficient

SELECT host, request FROM received ORDER BY ALL DESC OFFSET 3;
sufficient

SELECT host AS h, request AS r FROM received ORDER BY h, r LIMIT 15;
sufficient

SELECT host, request FROM received ORDER BY (host, seq) LIMIT 15;
sufficient

SELECT host, request FROM received ORDER BY host, -seq LIMIT 15;
sufficient

SELECT host, t_ns // 1000 AS at FROM received ORDER BY host, t_ns LIMIT 15;
sufficient

SELECT host, 1 AS one FROM received ORDER BY host LIMIT 15;
sufficient

SELECT request FROM received WHERE host = 'a' ORDER BY seq LIMIT 1;
sufficient

SELECT received.request FROM received INNER JOIN summary ON summary.host = received.host ORDER BY received.seq LIMIT 1;
sufficient

SELECT received.request FROM received SEMI JOIN summary ON summary.host = received.host ORDER BY received.seq LIMIT 1;
sufficient

SELECT host, request, size FROM requests ORDER BY host, request LIMIT 3;
sufficient

SELECT host, size FROM requests ORDER BY request, host FETCH FIRST 3 ROWS ONLY;
sufficient

SELECT r.size, q.bytes FROM requests AS r LEFT JOIN (SELECT host, request, max(bytes) AS bytes FROM sent GROUP BY ALL) AS q
  ON q.host = r.host AND q.request = r.request ORDER BY r.host, r.request LIMIT 5;
sufficient

SELECT size, lines FROM requests INNER JOIN logs USING (host) ORDER BY host, request LIMIT 5;
sufficient

SELECT host, count(*) AS n FROM received GROUP BY host ORDER BY n DESC, host LIMIT 1;
sufficient

SELECT host, count(*) FROM received GROUP BY host ORDER BY count(*), host LIMIT 1;
sufficient

SELECT count(*) AS n FROM received GROUP BY host ORDER BY n LIMIT 1;
sufficient

SELECT DISTINCT request FROM received ORDER BY request LIMIT 3;
sufficient

SELECT max(seq) AS m FROM received ORDER BY 1 LIMIT 1;
sufficient

SELECT request FROM received WHERE EXISTS (SELECT 1 FROM sent WHERE sent.request = received.request ORDER BY bytes LIMIT 1);
sufficient

SELECT host, seq FROM received UNION ALL SELECT host, seq FROM sent ORDER BY host, seq LIMIT 9;
sufficient

SELECT host, request FROM received UNION SELECT host, request FROM sent ORDER BY request, host LIMIT 9;
sufficient

WITH marks AS (SELECT host, seq, TRUE AS begins FROM received UNION ALL SELECT host, seq, FALSE FROM sent)
SELECT host, seq, lag(begins) OVER (PARTITION BY host ORDER BY seq) AS before FROM marks;
sufficient

WITH numbered AS (SELECT request, row_number() OVER (ORDER BY host, seq) AS n FROM received)
SELECT request FROM numbered ORDER BY n LIMIT 4;
sufficient

WITH one AS (SELECT request, host FROM received QUALIFY row_number() OVER (PARTITION BY host ORDER BY seq) = 1)
SELECT request FROM one ORDER BY host LIMIT 4;
sufficient

SELECT row_number() OVER (PARTITION BY host ORDER BY seq) AS n, request FROM received;
sufficient

SELECT row_number() OVER (ORDER BY request) AS n, request FROM received;
sufficient

SELECT row_number() OVER w AS n, request FROM received WINDOW w AS (PARTITION BY host ORDER BY seq);
sufficient

SELECT row_number() OVER (w ORDER BY seq) AS n, request FROM received WINDOW w AS (PARTITION BY host);
sufficient

SELECT lag(bytes, 1, 0) OVER (PARTITION BY host ORDER BY seq) AS before FROM sent;
sufficient

SELECT lead(bytes IGNORE NULLS) OVER (PARTITION BY host ORDER BY seq) AS following FROM sent;
sufficient

SELECT first_value(t_ns) OVER (PARTITION BY host ORDER BY t_ns) AS first, request FROM sent;
sufficient

SELECT last_value(bytes) OVER (PARTITION BY host ORDER BY seq ROWS UNBOUNDED PRECEDING) AS last FROM sent;
sufficient

SELECT rank() OVER (ORDER BY bytes) AS r, dense_rank() OVER (ORDER BY 1) AS d, request FROM sent;
sufficient

SELECT percent_rank() OVER (ORDER BY bytes) AS r, cume_dist() OVER (ORDER BY bytes) AS d, request FROM sent;
sufficient

SELECT sum(bytes) OVER (PARTITION BY host ORDER BY t_ns) AS total, request FROM sent;
sufficient

SELECT sum(bytes) OVER (ORDER BY t_ns RANGE BETWEEN 5 PRECEDING AND CURRENT ROW) AS total, request FROM sent;
sufficient

SELECT max(bytes) OVER (ORDER BY t_ns ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS most, request FROM sent;
sufficient

SELECT max(bytes) OVER (PARTITION BY host ORDER BY seq ROWS BETWEEN 3 PRECEDING AND CURRENT ROW) AS most, request FROM sent;
sufficient

SELECT count(*) OVER () AS n, arg_max(bytes, seq) OVER (PARTITION BY host) AS last FROM sent;
sufficient

SELECT list(bytes) OVER (PARTITION BY host ORDER BY bytes) AS every, request FROM sent;
sufficient

SELECT host, sum(count(*)) OVER (ORDER BY host) AS n FROM sent GROUP BY host;
sufficient

SELECT host, row_number() OVER (ORDER BY count(*), host) AS n FROM sent GROUP BY host;
sufficient

SELECT host, first(bytes ORDER BY seq) AS bytes FROM sent GROUP BY host;
sufficient

SELECT first(bytes ORDER BY host, seq) AS bytes FROM sent;
sufficient

SELECT any_value(bytes ORDER BY seq) FILTER (WHERE bytes > 1) AS bytes FROM sent GROUP BY host;
sufficient

SELECT first(host ORDER BY host) AS host, last(bytes + 1 ORDER BY bytes) AS most FROM sent;
sufficient

SELECT arg_max(bytes, seq) AS bytes FROM sent GROUP BY host;
sufficient

SELECT arg_max(bytes, (host, seq)) AS bytes FROM sent;
sufficient

SELECT max_by(host, host) AS host, arg_min(t_ns // 5, t_ns) AS t FROM sent;
sufficient

SELECT string_agg(request, ', ' ORDER BY seq) AS requests FROM sent GROUP BY host;
sufficient

SELECT string_agg(DISTINCT request, ', ' ORDER BY request) AS requests FROM sent;
sufficient

SELECT string_agg(a || ' x ' || b, ', ' ORDER BY a, b) AS told FROM (SELECT DISTINCT host AS a, request AS b FROM sent);
sufficient

SELECT list(bytes ORDER BY bytes) AS every, array_agg(request ORDER BY host, seq) AS requests FROM sent;
sufficient

SELECT list_sort(list(bytes)) AS every, len(list(bytes)) AS n FROM sent;
sufficient

SELECT list_transform(list(bytes ORDER BY bytes), lambda b: b + 1) AS every FROM sent;
sufficient

SELECT mode(request ORDER BY request) AS most FROM sent;
sufficient

SELECT quantile_cont(bytes, 0.5) AS middle, median(bytes) AS same FROM sent;
sufficient

SELECT fsum(bytes::DOUBLE ORDER BY bytes::DOUBLE) AS total FROM sent;
sufficient

SELECT DISTINCT ON (host) host, request FROM received ORDER BY host, seq;
sufficient

SELECT DISTINCT ON (host, request) host, request FROM received ORDER BY host, request;
sufficient

SELECT DISTINCT ON (request) request, t_ns FROM received ORDER BY t_ns;
sufficient

SELECT ARRAY(SELECT bytes FROM sent WHERE sent.request = received.request ORDER BY bytes) AS every FROM received;
sufficient

SELECT received.request, sent.bytes FROM received ASOF JOIN sent ON sent.host = received.host AND sent.seq >= received.seq;
sufficient

SELECT received.request, sent.t_ns FROM received ASOF LEFT JOIN sent ON sent.host = received.host AND sent.t_ns <= received.t_ns;
sufficient

SELECT (SELECT request FROM sent WHERE sent.host = logs.host ORDER BY sent.host, seq LIMIT 1) AS first FROM logs;
sufficient

SELECT (SELECT request FROM sent WHERE sent.host = logs.host ORDER BY seq LIMIT 1) AS first FROM logs;
sufficient

SELECT i FROM range(10) AS r(i) ORDER BY i LIMIT 3;
sufficient

SELECT a FROM (VALUES (1), (2)) AS v(a) ORDER BY a LIMIT 1;
sufficient

SELECT received.request FROM received INNER JOIN sent ON sent.request = received.request ORDER BY received.host, received.seq, sent.bytes LIMIT 2;
sufficient

SELECT host, request FROM received ORDER BY 1 + 1 LIMIT 15;
LIMIT

SELECT host, request FROM received ORDER BY () LIMIT 15;
LIMIT

SELECT host, request FROM received ORDER BY NULL LIMIT 15;
LIMIT

SELECT host, request FROM received ORDER BY 'host' LIMIT 15;
LIMIT

SELECT host, request FROM received ORDER BY length('abc') LIMIT 15;
LIMIT

SELECT host, request FROM received ORDER BY (SELECT 1) LIMIT 15;
LIMIT

SELECT host, request FROM received ORDER BY (SELECT max(seq) FROM sent) LIMIT 15;
LIMIT

SELECT host, request FROM received ORDER BY CASE WHEN TRUE THEN 1 ELSE 2 END LIMIT 15;
LIMIT

SELECT host, request FROM received ORDER BY 1 LIMIT 15;
LIMIT

SELECT host, request FROM received ORDER BY host LIMIT 15;
LIMIT

SELECT host, request FROM received ORDER BY host, t_ns LIMIT 15;
LIMIT

SELECT host, request FROM received ORDER BY seq LIMIT 15;
LIMIT

SELECT host, request FROM received ORDER BY host, seq % 2 LIMIT 15;
LIMIT

SELECT host, request FROM received ORDER BY host, seq * 0 LIMIT 15;
LIMIT

SELECT host, request FROM received ORDER BY lower(host), lower(request) LIMIT 15;
LIMIT

SELECT host, request FROM received ORDER BY host COLLATE NOCASE, seq LIMIT 15;
LIMIT

SELECT host, request FROM received ORDER BY host OFFSET 3;
OFFSET

SELECT host, request FROM received ORDER BY host FETCH FIRST 3 ROWS ONLY;
FETCH

SELECT * FROM received ORDER BY t_ns LIMIT 15;
LIMIT

SELECT host, size FROM requests ORDER BY host LIMIT 3;
LIMIT

SELECT count(*) AS n, host FROM received GROUP BY host ORDER BY n LIMIT 1;
LIMIT

SELECT host, request FROM received GROUP BY ROLLUP (host, request) ORDER BY host LIMIT 3;
LIMIT

SELECT received.request, sent.bytes FROM received INNER JOIN sent ON sent.request = received.request ORDER BY received.host, received.seq LIMIT 2;
LIMIT

SELECT host, request FROM received UNION ALL SELECT host, request FROM sent ORDER BY host LIMIT 9;
LIMIT

SELECT a FROM (SELECT host AS a, request AS b FROM received) ORDER BY b LIMIT 9;
LIMIT

SELECT host, unnest([seq, 1]) AS n FROM received ORDER BY host, seq LIMIT 9;
LIMIT

SELECT request FROM received WHERE request IN (SELECT request FROM sent ORDER BY bytes LIMIT 3);
LIMIT

WITH some AS (SELECT request, bytes FROM sent ORDER BY bytes LIMIT 3) SELECT request FROM some;
LIMIT

WITH RECURSIVE n AS (SELECT 1 AS i, 2 AS j UNION ALL SELECT i + 1, j FROM n WHERE i < 5) SELECT j FROM n ORDER BY i LIMIT 3;
LIMIT

WITH marks AS (SELECT host, seq, request FROM rows_a UNION ALL SELECT host, seq, request FROM rows_b) SELECT lag(request) OVER (PARTITION BY host ORDER BY seq) AS before FROM marks;
lag

SELECT row_number() OVER (ORDER BY NULL) AS n, request FROM received;
row_number

SELECT row_number() OVER (ORDER BY 1) AS n, request FROM received;
row_number

SELECT row_number() OVER (ORDER BY 2 * 3) AS n, request FROM received;
row_number

SELECT row_number() OVER (ORDER BY ()) AS n, request FROM received;
row_number

SELECT row_number() OVER (ORDER BY host) AS n, request FROM received;
row_number

SELECT row_number() OVER (PARTITION BY host ORDER BY t_ns) AS n, request FROM received;
row_number

SELECT row_number() OVER w AS n, request FROM received WINDOW w AS (ORDER BY 'a');
row_number

SELECT request FROM received QUALIFY row_number() OVER (PARTITION BY host ORDER BY t_ns) = 1;
row_number

SELECT lag(bytes) OVER (ORDER BY t_ns) AS before, request FROM sent;
lag

SELECT lead(bytes IGNORE NULLS) OVER (PARTITION BY host ORDER BY t_ns) AS following FROM sent;
lead

SELECT first_value(bytes) OVER (PARTITION BY host ORDER BY t_ns) AS first FROM sent;
first_value

SELECT last_value(bytes) OVER (PARTITION BY host ORDER BY t_ns) AS last FROM sent;
last_value

SELECT nth_value(bytes, 2) OVER (PARTITION BY host ORDER BY t_ns) AS second FROM sent;
nth_value

SELECT ntile(4) OVER (ORDER BY bytes) AS quarter, request FROM sent;
ntile

SELECT fill(bytes) OVER (ORDER BY t_ns) AS b, request FROM sent;
fill

SELECT sum(bytes) OVER (ORDER BY t_ns ROWS BETWEEN 3 PRECEDING AND CURRENT ROW) AS total, request FROM sent;
sum

SELECT max(bytes) OVER (ORDER BY t_ns ROWS UNBOUNDED PRECEDING) AS most, request FROM sent;
max

SELECT list(request) OVER (PARTITION BY host ORDER BY t_ns) AS requests FROM sent;
list

SELECT arg_max(request, t_ns) OVER (PARTITION BY host) AS last FROM sent;
arg_max

SELECT host, row_number() OVER (ORDER BY count(*)) AS n FROM sent GROUP BY host;
row_number

SELECT first(bytes ORDER BY host) AS bytes FROM sent;
first

SELECT first(bytes ORDER BY 1) AS bytes FROM sent;
first

SELECT first(bytes ORDER BY NULL) AS bytes FROM sent;
first

SELECT last(bytes ORDER BY seq) AS bytes FROM sent;
last

SELECT any_value(bytes ORDER BY t_ns) AS bytes FROM sent GROUP BY host;
any_value

SELECT arg_max(bytes, t_ns) AS bytes FROM sent;
arg_max

SELECT arg_min(bytes, seq) AS bytes FROM sent;
arg_min

SELECT max_by(bytes, t_ns) AS bytes FROM sent GROUP BY host;
max_by

SELECT arg_max_null(bytes, t_ns) AS bytes FROM sent GROUP BY host;
arg_max_null

SELECT arg_max(bytes, t_ns, 3) AS bytes FROM sent GROUP BY host;
arg_max

SELECT string_agg(request, ', ' ORDER BY host) AS requests FROM sent;
string_agg

SELECT string_agg(request, ', ' ORDER BY length(request)) AS requests FROM sent;
string_agg

SELECT list(request ORDER BY bytes) AS requests FROM sent;
list

SELECT array_agg(request ORDER BY bytes) FILTER (WHERE bytes > 1) AS requests FROM sent;
array_agg

SELECT list(DISTINCT request ORDER BY seq) AS requests FROM sent GROUP BY host;
list

SELECT mode(request ORDER BY host) AS most FROM sent;
mode

SELECT fsum(bytes::DOUBLE ORDER BY host) AS total FROM sent;
fsum

SELECT json_group_array(request ORDER BY host) AS requests FROM sent;
json_group_array

SELECT DISTINCT ON (host) host, request FROM received ORDER BY host;
DISTINCT

SELECT DISTINCT ON (host) host, request FROM received ORDER BY host, 1 + 1;
DISTINCT

SELECT DISTINCT ON (host) host, request FROM received ORDER BY host, t_ns;
DISTINCT

SELECT ARRAY(SELECT bytes FROM sent) AS every FROM received;
ARRAY

SELECT ARRAY(SELECT bytes FROM sent ORDER BY host) AS every FROM received;
ARRAY

SELECT received.request, sent.bytes FROM received ASOF JOIN sent ON sent.host = received.host AND sent.t_ns <= received.t_ns;
ASOF

SELECT received.request, sent.bytes FROM received POSITIONAL JOIN sent;
POSITIONAL

SELECT request FROM received ORDER BY rowid LIMIT 3;
rowid

SELECT (SELECT request FROM sent WHERE sent.host = logs.host ORDER BY t_ns LIMIT 1) AS first FROM logs;
LIMIT

SELECT list(t_ns) OVER (ORDER BY t_ns ROWS UNBOUNDED PRECEDING) AS times, request FROM sent;
list

SELECT received.request, s.bytes FROM received ASOF JOIN (SELECT host, t_ns, bytes FROM sent) AS s ON s.host = received.host AND s.t_ns <= received.t_ns;
ASOF

SELECT x.request FROM ((SELECT request, host FROM sent ORDER BY bytes LIMIT 3) AS x INNER JOIN logs ON logs.host = x.host);
LIMIT

SELECT u.r FROM unnest((SELECT list(request ORDER BY bytes) FROM sent)) AS u(r);
list

SELECT * FROM (VALUES ((SELECT first(request ORDER BY bytes) FROM sent))) AS v(a);
first

SELECT l.request FROM logs, LATERAL (SELECT request FROM sent WHERE sent.host = logs.host ORDER BY t_ns LIMIT 1) AS l;
LIMIT

SELECT * FROM (SELECT host, request, bytes FROM sent ORDER BY bytes LIMIT 3) PIVOT (sum(bytes) FOR request IN ('a', 'b'));
LIMIT
