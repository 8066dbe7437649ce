-- Can the ordered rows of a query be computed for some hosts at a time, and put together in the order of hosts?
-- The answer is `yes` or `not certain`. Hypothesis executes the queries with `yes` over random rows.

-- title: counts of each host
SELECT host, COUNT(*) AS total, COUNT_IF(n > 1) AS some FROM a GROUP BY host ORDER BY host;
yes

-- title: rows of each host in order
SELECT host, n, m FROM a ORDER BY host, n, m;
yes

-- title: distinct rows of a join
SELECT DISTINCT a.host, a.n, b.m FROM a INNER JOIN b ON b.host = a.host ORDER BY a.host ASC, a.n DESC, b.m DESC;
yes

-- title: no order
SELECT host, COUNT(*) AS total FROM a GROUP BY host;
not certain

-- title: hosts backwards
SELECT host, COUNT(*) AS total FROM a GROUP BY host ORDER BY host DESC;
not certain

-- title: another order
SELECT host, n, m FROM a ORDER BY n, host, m;
not certain

-- title: some rows
SELECT host, n, m FROM a ORDER BY host, n, m LIMIT 2;
not certain

-- title: counts of all hosts
SELECT n, COUNT(*) AS total FROM a GROUP BY n ORDER BY n;
not certain

-- title: a share of all rows
SELECT host, COUNT(*) / SUM(COUNT(*)) OVER () AS part FROM a GROUP BY host ORDER BY host;
not certain

-- title: order of another table
SELECT a.host, b.n FROM a LEFT JOIN b ON b.host = a.host ORDER BY b.host, b.n;
not certain
