-- Does a query yield rows exactly if it yields rows for some hosts?
-- Tables `a` and `b` have the columns host, n and m.

-- title: without the host
SELECT n, m FROM a WHERE n > 2;
yes

-- title: the first row
SELECT host, n FROM a WHERE n > m ORDER BY host, n LIMIT 1;
yes

-- title: names of hosts
SELECT LISTAGG(DISTINCT host, ', ' ORDER BY host) AS hosts FROM a ANTI JOIN b ON b.host = a.host HAVING COUNT(*) > 0;
yes

-- title: hosts of neither
WITH active AS (SELECT host FROM a WHERE n > 2 UNION SELECT host FROM b WHERE n > 2) SELECT LISTAGG(DISTINCT a.host, ', ' ORDER BY a.host) AS hosts FROM a ANTI JOIN active ON active.host = a.host HAVING COUNT(*) > 0;
yes

-- title: the number of all rows in the message
WITH falling AS (SELECT host, n FROM a WHERE n > 3), counted AS (SELECT COUNT(*) AS number FROM falling) SELECT falling.host, counted.number FROM falling CROSS JOIN counted ORDER BY falling.host LIMIT 1;
yes

-- title: a condition on groups
SELECT n, COUNT(*) AS number FROM a GROUP BY host, n HAVING COUNT(*) > 1;
yes

-- title: a condition on rows
SELECT MIN(n) AS n FROM a WHERE n > 2 HAVING COUNT(*) > 0;
yes

-- title: a limit of none
SELECT host FROM a LIMIT 0;
not certain

-- title: the second row
SELECT host FROM a ORDER BY host, n LIMIT 1 OFFSET 1;
not certain

-- title: one row of all
SELECT COUNT(*) AS number FROM a;
not certain

-- title: more than one row
SELECT COUNT(*) AS number FROM a HAVING COUNT(*) > 1;
not certain

-- title: no row
SELECT COUNT(*) AS number FROM a HAVING COUNT(*) = 0;
not certain

-- title: groups over hosts
SELECT n FROM a GROUP BY n HAVING COUNT(*) > 1;
not certain

-- title: a condition on the number of all rows
WITH counted AS (SELECT COUNT(*) AS number FROM a) SELECT a.host FROM a CROSS JOIN counted WHERE counted.number > 2;
not certain

-- title: a condition on the number without its table
WITH counted AS (SELECT COUNT(*) AS number FROM a) SELECT a.host FROM a CROSS JOIN counted WHERE number > 2;
not certain

-- title: a row for each number up to that of all rows
WITH counted AS (SELECT COUNT(*) AS number FROM a) SELECT a.host, UNNEST(GENERATE_SERIES(3, counted.number)) AS k FROM a CROSS JOIN counted;
not certain

-- title: a row for each item of a list
WITH counted AS (SELECT COUNT(*) AS number FROM a) SELECT UNNEST(GENERATE_SERIES(3, a.n)) AS k, counted.number FROM a CROSS JOIN counted;
yes

-- title: a row for each group
WITH grouped AS (SELECT COUNT(*) AS number FROM b GROUP BY n) SELECT a.host, grouped.number FROM a CROSS JOIN grouped;
not certain

-- title: a row only of many
WITH counted AS (SELECT COUNT(*) AS number FROM b HAVING COUNT(*) > 2) SELECT a.host, counted.number FROM a CROSS JOIN counted;
not certain

-- title: a join of other columns
SELECT a.host FROM a JOIN b ON b.n = a.n;
not certain
