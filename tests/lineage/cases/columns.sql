-- Which columns make the value of `y`, and which decide the rows? `t.*` are the rows of a table; `a` has x and z, `b` has u and v.

-- title: a column
SELECT a.x AS y FROM a;
value: a.x
rows: a.*

-- title: a count
SELECT count(*) AS y FROM a WHERE a.z > 1;
value: a.*
rows: a.* a.z

-- title: a star
SELECT * EXCLUDE (z), 1 AS y FROM a;
value: none
rows: a.*

-- title: names in upper case
SELECT X AS y FROM A;
value: a.x
rows: a.*

-- title: a table that is hidden
WITH a AS (SELECT u AS x FROM b) SELECT a.x AS y FROM a;
value: b.u
rows: b.*

-- title: a query in a condition
SELECT x AS y FROM a WHERE EXISTS (SELECT 1 FROM b WHERE b.u = a.z);
value: a.x
rows: a.* a.z b.* b.u

-- title: a join that may add rows
SELECT b.v AS y FROM a LEFT JOIN b ON b.u = a.x;
value: b.v
rows: a.* a.x b.* b.u

-- title: a join that adds none
SELECT b.v AS y FROM a ASOF LEFT JOIN b ON b.u < a.x;
value: b.v
rows: a.*

-- title: a union
SELECT x AS y FROM a UNION SELECT u FROM b;
value: a.x b.u
rows: a.* a.x b.* b.u

-- title: recursion
WITH RECURSIVE r AS (SELECT x, z FROM a UNION ALL SELECT b.u AS x, r.x AS z FROM r JOIN b ON b.v = r.z) SELECT z AS y FROM r;
value: a.x a.z b.u
rows: a.* a.x a.z b.* b.u b.v

-- title: a named window
SELECT lag(x) OVER w AS y FROM a WINDOW w AS (ORDER BY z);
value: a.x a.z
rows: a.*

-- title: the variable of a lambda is no column
SELECT list_transform([1, 2], lambda x: x + a.z)[1] AS y FROM a;
value: a.z
rows: a.*

-- title: a table function beside a table
SELECT a.x + r.i AS y FROM a, range(1, a.z) AS r (i);
value: a.x
rows: a.* a.z

-- title: a list of rows beside a table
SELECT v.i AS y FROM a CROSS JOIN (VALUES (1), (2)) AS v (i) WHERE a.x > v.i;
value: none
rows: a.* a.x
