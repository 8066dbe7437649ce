-- Does a query name all that it reads of the tables `a` and `b`? It reads all columns of `whole` anyway.

SELECT count(*) AS n FROM a;
named columns

SELECT COUNT( * ) FROM a;
named columns

SELECT x * y, (x + 1) * y, 2*x, sum(x) * (y) FROM a;
named columns

SELECT x -- all * of
 FROM a;
named columns

SELECT '*', '(*)', 'a' FROM a;
named columns

SELECT count(*) FILTER (WHERE x) * 100 FROM a;
named columns

SELECT whole.* FROM whole;
named columns

SELECT whole FROM whole;
named columns

SELECT a.a, x AS a FROM a;
named columns

WITH q AS (SELECT x AS a FROM a) SELECT a FROM q;
named columns

SELECT list_transform([1], lambda q: q + x) FROM a;
named columns

SELECT * FROM a;
everything

SELECT a.* FROM a;
everything

SELECT *, x FROM a;
everything

SELECT x, * FROM a;
everything

SELECT count(DISTINCT a.*) FROM a;
everything

SELECT DISTINCT * EXCLUDE (x) FROM a;
everything

SELECT DISTINCT ON (x) * FROM a;
everything

SELECT max(COLUMNS(*)) FROM a;
everything

SELECT a.COLUMNS('x') FROM a;
everything

FROM a;
everything

SELECT x FROM (FROM a);
everything

SELECT x FROM a NATURAL JOIN b;
everything

SELECT x FROM a WHERE y IN (SELECT * FROM b);
everything

SELECT x, sum(y) FROM a GROUP BY ALL;
everything

SELECT a FROM a;
everything

SELECT A FROM a;
everything

SELECT q FROM a AS q;
everything

SELECT x FROM a WHERE EXISTS (SELECT 1 FROM b WHERE b.y = to_json(a));
everything

SELECT whole.* FROM a AS whole;
everything

WITH whole AS (SELECT q FROM a AS q) SELECT whole.* FROM whole;
everything

SELECT x FROM a AS q(x, y);
everything

SELECT #1 FROM a;
everything

PIVOT a ON x USING sum(y);
everything

SELECT x FROM;
everything

SELECT 'x FROM a;
everything
