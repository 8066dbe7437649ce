-- Does a query yield the same when it is worked out for some hosts at a time?
-- Tables `a` and `b` have the columns host, n and m.

-- title: rows
SELECT host, n * 2 AS m, n + 1 AS k FROM a WHERE n > 1;
yes

-- title: all columns
SELECT * FROM a ORDER BY n;
yes

-- title: columns of one
SELECT x.*, y.m AS own FROM a AS x JOIN b AS y ON y.host = x.host AND y.n < x.n;
yes

-- title: groups
SELECT host, SUM(n) AS n FROM a GROUP BY host HAVING SUM(n) > 2;
yes

-- title: distinct rows
SELECT DISTINCT host, n FROM a;
yes

-- title: a window
SELECT host, LAG(n) OVER (PARTITION BY host ORDER BY n, m) AS before FROM a;
yes

-- title: a window with a name
SELECT host, MAX(n) OVER w AS most FROM a WINDOW w AS (PARTITION BY host);
yes

-- title: a window that extends another one
SELECT host, SUM(n) OVER (w ORDER BY n) AS n FROM a WINDOW w AS (PARTITION BY host);
yes

-- title: a window of groups
SELECT host, SUM(SUM(n)) OVER (PARTITION BY host) AS n FROM a GROUP BY host, m;
yes

-- title: rows of a window with a name
SELECT host, n FROM a WINDOW w AS (PARTITION BY host, m) QUALIFY n = MAX(n) OVER w;
yes

-- title: the order of a window
SELECT host, n FROM a ORDER BY SUM(m) OVER (PARTITION BY host), n;
yes

-- title: distinct values of a window
SELECT DISTINCT host, SUM(n) OVER (PARTITION BY host) AS n FROM a;
yes

-- title: some rows of each group
SELECT host, LIST(m ORDER BY m) FILTER (WHERE n > 1) AS m FROM a GROUP BY host, n;
yes

-- title: rows of a window
SELECT host, n FROM a QUALIFY ROW_NUMBER() OVER (PARTITION BY host ORDER BY n, m) = 1;
yes

-- title: a union
SELECT host, n FROM a UNION ALL SELECT host, m FROM b;
yes

-- title: a left join
SELECT a.host, b.m FROM a LEFT JOIN b ON b.host = a.host AND b.n = a.n;
yes

-- title: one joined to what is joined
SELECT a.host, c.m FROM a LEFT JOIN b ON a.host = b.host AND a.n = b.n LEFT JOIN b AS c ON b.host = c.host AND b.m = c.n;
yes

-- title: a semi join
SELECT host, n FROM a SEMI JOIN b ON a.host = b.host AND a.n = b.n;
yes

-- title: an anti join
SELECT host, n FROM a ANTI JOIN b ON a.host = b.host AND a.n = b.n;
yes

-- title: the latest before
SELECT a.host, a.n, b.m FROM a ASOF LEFT JOIN (SELECT host, n, MAX(m) AS m FROM b GROUP BY host, n) AS b ON a.host = b.host AND b.n < a.n;
yes

-- title: the latest before, if any
SELECT a.host, a.n, b.m FROM a ASOF JOIN (SELECT host, n, MAX(m) AS m FROM b GROUP BY host, n) AS b ON a.host = b.host AND b.n < a.n;
yes

-- title: rows with an earlier one
SELECT a.host, a.n FROM a ASOF SEMI JOIN b ON a.host = b.host AND b.n < a.n;
yes

-- title: rows without an earlier one
SELECT a.host, a.n FROM a ASOF ANTI JOIN b ON a.host = b.host AND b.n < a.n;
yes

-- title: parentheses
(SELECT host, n FROM a WHERE n > 1);
yes

-- title: parentheses in a union
SELECT host, n FROM a UNION ALL (SELECT host, m FROM b UNION SELECT host, n FROM b);
yes

-- title: stages of a union of three
WITH x AS (SELECT host, n FROM a) SELECT host, n FROM x UNION SELECT host, m FROM b UNION ALL SELECT host, n FROM x;
yes

-- title: stages in a stage
WITH x AS (WITH y AS (SELECT host, MAX(n) AS n FROM a GROUP BY host) SELECT * FROM y) SELECT x.host, x.n FROM x;
yes

-- title: stages
WITH x AS (SELECT host, n FROM a), y AS (SELECT host, MAX(n) AS n FROM x GROUP BY host) SELECT x.host, y.n FROM x JOIN y ON y.host = x.host;
yes

-- title: no column
SELECT n FROM a;
not certain

-- title: another of its name
SELECT b.host AS host, a.n FROM a LEFT JOIN b ON a.host = b.host AND a.n = b.n;
not certain

-- title: made up
SELECT 'a' AS host, n FROM a;
not certain

-- title: twice
SELECT *, host FROM a;
not certain

-- title: all columns of two
SELECT * FROM a JOIN b ON a.host = b.host;
not certain

-- title: other columns
SELECT * EXCLUDE (n) FROM a;
not certain

-- title: all of them
SELECT MAX(host) AS host, COUNT(*) AS n FROM a;
not certain

-- title: groups of hosts
SELECT ANY_VALUE(host) AS host, n FROM a GROUP BY n;
not certain

-- title: hosts of groups
SELECT host, n FROM a GROUP BY ROLLUP (host, n);
not certain

-- title: some rows
SELECT host, n FROM a ORDER BY n, m, host LIMIT 3;
not certain

-- title: a sample
SELECT host, n FROM a USING SAMPLE 2;
not certain

-- title: one of each
SELECT DISTINCT ON (n) host, n FROM a ORDER BY n, host;
not certain

-- title: a window of all
SELECT host, SUM(n) OVER () AS n FROM a;
not certain

-- title: a window of all with a name
SELECT host, SUM(n) OVER w AS n FROM a WINDOW w AS (PARTITION BY n);
not certain

-- title: a window of all in the order
SELECT host, n FROM a ORDER BY SUM(n) OVER ();
not certain

-- title: rows of all
SELECT host, n FROM a QUALIFY ROW_NUMBER() OVER (ORDER BY n, m, host) < 3;
not certain

-- title: all pairs
SELECT a.host, b.m FROM a CROSS JOIN b;
not certain

-- title: pairs in a list
SELECT a.host, b.m FROM a, b WHERE a.host = b.host;
not certain

-- title: a join of other columns
SELECT a.host, b.m FROM a JOIN b ON a.n = b.n;
not certain

-- title: either of two
SELECT a.host, b.m FROM a JOIN b ON a.host = b.host OR a.n = b.n;
not certain

-- title: what is not in it
SELECT a.host, b.m FROM a JOIN b ON NOT a.host = b.host;
not certain

-- title: what is right of it
SELECT b.host, a.n FROM a RIGHT JOIN b ON a.host = b.host AND a.n = b.n;
not certain

-- title: a question
SELECT host, n FROM a WHERE n = (SELECT MAX(n) FROM b);
not certain

-- title: another question
SELECT host, n FROM a WHERE EXISTS (SELECT 1 FROM b WHERE b.n = a.n);
not certain

-- title: a question in a join
SELECT a.host, b.m FROM a JOIN b ON a.host = b.host AND b.n = (SELECT MAX(n) FROM b);
not certain

-- title: a stage of all
WITH x AS (SELECT MAX(host) AS host, MAX(n) AS n FROM a) SELECT a.host, x.n FROM a JOIN x ON x.host = a.host;
not certain

-- title: a stage in other letters
WITH X AS (SELECT MAX(host) AS host, MAX(n) AS n FROM a) SELECT a.host, x.n FROM a JOIN x ON x.host = a.host;
not certain

-- title: within
SELECT host, n FROM (SELECT host, SUM(n) OVER () AS n FROM a) AS x;
not certain

-- title: a union by place
SELECT host, n FROM a UNION ALL SELECT m::VARCHAR AS m, n FROM b;
not certain

-- title: what is lacking in another
SELECT host, n FROM a EXCEPT SELECT host, m FROM b;
not certain

-- title: values
SELECT host, n FROM (VALUES ('a', 1)) AS x(host, n);
not certain

-- title: other names
SELECT host, n FROM a AS x(n, host, m);
not certain

-- title: what calls itself
WITH RECURSIVE x AS (SELECT host, n FROM a UNION ALL SELECT host, n - 1 FROM x WHERE n > 0) SELECT host, n FROM x;
not certain

-- title: a row for each item of a list
SELECT host, UNNEST([n, m]) AS n FROM a;
yes

-- title: a row for each number between two
SELECT x.host, x.k FROM (SELECT host, m, UNNEST(GENERATE_SERIES(n, m)) AS k FROM a WHERE m > n) AS x WHERE x.k <> x.m;
yes

-- title: rows for each item of two lists
SELECT a.host, UNNEST([a.n, b.m, 1]) AS x, UNNEST([a.m, b.n]) AS y FROM a LEFT JOIN b ON b.host = a.host;
yes

-- title: a union in order
SELECT host, n FROM a UNION SELECT host, m FROM b ORDER BY n, host;
yes

-- title: hosts from a list
SELECT UNNEST(['x', 'y']) AS host, n FROM a;
not certain

-- title: a list of distinct rows
SELECT DISTINCT host, UNNEST([n, m]) AS n FROM a;
not certain

-- title: a list of each group
SELECT host, UNNEST([SUM(n), 1]) AS n FROM a GROUP BY host;
not certain

-- title: a list of a window
SELECT host, UNNEST([SUM(n) OVER (), 1]) AS n FROM a;
not certain

-- title: a list of a question
SELECT host, UNNEST((SELECT LIST(n ORDER BY n) FROM b)) AS n FROM a;
not certain

-- title: some rows of a union
SELECT host, n FROM a UNION ALL SELECT host, m FROM b ORDER BY n, host LIMIT 2;
not certain
