-- Which functions of a query add up real numbers in no order? Columns of `t`: a BIGINT, x DOUBLE, f FLOAT,
-- d DECIMAL(10, 2), k TEXT; the view `v` has x as y.

SELECT sum(x) FROM t;
sum

SELECT sum(f), AVG(x), avg(a), stddev(a) FROM t;
sum avg stddev

SELECT sum(x) FILTER (WHERE k = 'a') FROM t GROUP BY k;
sum

SELECT mean(y) FROM v;
mean

SELECT sum(a / 2) FROM t;
sum

SELECT regr_slope(x, a), corr(a, a) FROM t;
regr_slope corr

WITH s AS (SELECT k, fsum(x) AS z FROM t GROUP BY k) SELECT max(z) FROM s;
fsum

SELECT a FROM t WHERE x > (SELECT avg(x) FROM t);
avg

SELECT a FROM t WHERE EXISTS (SELECT 1 FROM t AS u WHERE u.k = t.k HAVING sum(x) > 1);
sum

SELECT sum(a) FROM t UNION ALL SELECT product(x) FROM t;
product

SELECT sum(x) OVER (PARTITION BY k) FROM t;
sum

SELECT sum(x) OVER (ORDER BY a ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) FROM t;
sum

SELECT sum(a), avg(a), sum(d), avg(d), sum(a // 2), sum(x::DECIMAL(18, 3)), count(*) FROM t;
none

SELECT sum(x ORDER BY a), stddev(x ORDER BY x) FILTER (WHERE x > 0) FROM t;
none

SELECT sum(x) OVER (ORDER BY a), sum(x ORDER BY a) OVER (PARTITION BY k) FROM t;
none

SELECT list_sum(list(x ORDER BY a)), list_aggregate(list(x ORDER BY a), 'stddev') FROM t;
none

SELECT max(x), median(x), quantile_cont(x, 0.3), arg_max(x, a), count(x) FROM t;
none

SELECT row_number() OVER (ORDER BY a), lag(x) OVER (ORDER BY a) FROM t;
none
