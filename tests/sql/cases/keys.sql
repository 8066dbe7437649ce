-- Can a query yield two rows of one key?

-- key: a
SELECT a, count(*) AS n FROM t GROUP BY a;
unique

-- key: a
SELECT a, b, count(*) AS n FROM t GROUP BY a, b;
may repeat

-- key: b a
SELECT a, b, count(*) AS n FROM t GROUP BY a, b;
unique

-- key: a
SELECT a + 1 AS a FROM t GROUP BY a;
may repeat

-- key: x
SELECT a + 1 AS x FROM t GROUP BY a + 1;
unique

-- key: a
SELECT t.a FROM t GROUP BY t.a;
unique

-- key: a
SELECT a FROM t GROUP BY ROLLUP (a);
may repeat

-- key: a
SELECT a FROM t GROUP BY ALL;
may repeat

-- key: a b
SELECT DISTINCT a, b FROM t;
unique

-- key: a
SELECT DISTINCT a, b FROM t;
may repeat

-- key: a
SELECT DISTINCT ON (b) a FROM t;
may repeat

-- key: a
SELECT a FROM t;
may repeat

-- key: a
SELECT max(a) AS a FROM t;
unique

-- key: a
SELECT max(a) OVER () AS a FROM t;
may repeat

-- key: a
SELECT 1 AS a;
unique

-- key: a
SELECT max(a) AS a, (SELECT max(b) FROM u) AS b FROM t;
unique

-- key: b
SELECT (SELECT max(b) FROM u) AS b FROM t;
may repeat

-- key: a
SELECT a, unnest(list(b)) AS b FROM t GROUP BY a;
may repeat

-- key: a
SELECT unnest([1, 1]) AS a;
may repeat

-- key: a
SELECT unnest(list(a)) AS a FROM t;
may repeat

-- key: a
SELECT a, generate_subscripts(list(b), 1) AS b FROM t GROUP BY a;
may repeat

-- key: one
SELECT a, 1 AS one FROM t GROUP BY 1;
may repeat

-- key: a
SELECT a, arg_max(b, c) AS b FROM t GROUP BY a;
unique

-- key: a
SELECT a FROM t GROUP BY a UNION ALL SELECT a FROM t GROUP BY a;
may repeat

-- key: a b
SELECT a, b FROM t UNION SELECT a, b FROM u;
unique

-- key: a
SELECT a, b FROM t UNION SELECT a, b FROM u;
may repeat

-- key: a b
SELECT a, b FROM t UNION ALL SELECT a, b FROM u;
may repeat

-- key: a b
SELECT a, b FROM t UNION SELECT a, b FROM u UNION ALL SELECT a, b FROM v;
may repeat

-- key: a
SELECT a FROM t UNION BY NAME SELECT a, b FROM u;
may repeat
