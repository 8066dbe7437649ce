"""Queries that may be worked out for some hosts at a time: which are sure to be, and that they yield the same then."""

from __future__ import annotations

import duckdb
import pytest
import sqlglot
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.sql.partitioning import is_partitionable
from tests.support.deep import examples

APART = {
    "rows": "SELECT host, n * 2 AS m, n + 1 AS k FROM a WHERE n > 1",
    "all columns": "SELECT * FROM a ORDER BY n",
    "columns of one": "SELECT x.*, y.m AS own FROM a AS x JOIN b AS y ON y.host = x.host AND y.n < x.n",
    "groups": "SELECT host, SUM(n) AS n FROM a GROUP BY host HAVING SUM(n) > 2",
    "distinct rows": "SELECT DISTINCT host, n FROM a",
    "a window": "SELECT host, LAG(n) OVER (PARTITION BY host ORDER BY n, m) AS before FROM a",
    "a window with a name": "SELECT host, MAX(n) OVER w AS most FROM a WINDOW w AS (PARTITION BY host)",
    "rows of a window": "SELECT host, n FROM a QUALIFY ROW_NUMBER() OVER (PARTITION BY host ORDER BY n, m) = 1",
    "a union": "SELECT host, n FROM a UNION ALL SELECT host, m FROM b",
    "a left join": "SELECT a.host, b.m FROM a LEFT JOIN b ON b.host = a.host AND b.n = a.n",
    "one joined to what is joined": "SELECT a.host, c.m FROM a LEFT JOIN b ON a.host = b.host AND a.n = b.n "
    "LEFT JOIN b AS c ON b.host = c.host AND b.m = c.n",
    "a semi join": "SELECT host, n FROM a SEMI JOIN b ON a.host = b.host AND a.n = b.n",
    "an anti join": "SELECT host, n FROM a ANTI JOIN b ON a.host = b.host AND a.n = b.n",
    "the latest before": "SELECT a.host, a.n, b.m FROM a "
    "ASOF LEFT JOIN (SELECT host, n, MAX(m) AS m FROM b GROUP BY host, n) AS b ON a.host = b.host AND b.n < a.n",
    "stages": "WITH x AS (SELECT host, n FROM a), y AS (SELECT host, MAX(n) AS n FROM x GROUP BY host) "
    "SELECT x.host, y.n FROM x JOIN y ON y.host = x.host",
}
NOT_SURE = {
    "no column": "SELECT n FROM a",
    "another of its name": "SELECT b.host AS host, a.n FROM a LEFT JOIN b ON a.host = b.host AND a.n = b.n",
    "made up": "SELECT 'a' AS host, n FROM a",
    "twice": "SELECT *, host FROM a",
    "all columns of two": "SELECT * FROM a JOIN b ON a.host = b.host",
    "other columns": "SELECT * EXCLUDE (n) FROM a",
    "all of them": "SELECT MAX(host) AS host, COUNT(*) AS n FROM a",
    "groups of hosts": "SELECT ANY_VALUE(host) AS host, n FROM a GROUP BY n",
    "hosts of groups": "SELECT host, n FROM a GROUP BY ROLLUP (host, n)",
    "some rows": "SELECT host, n FROM a ORDER BY n, m, host LIMIT 3",
    "a sample": "SELECT host, n FROM a USING SAMPLE 2",
    "one of each": "SELECT DISTINCT ON (n) host, n FROM a ORDER BY n, host",
    "a window of all": "SELECT host, SUM(n) OVER () AS n FROM a",
    "a window of all with a name": "SELECT host, SUM(n) OVER w AS n FROM a WINDOW w AS (PARTITION BY n)",
    "a window of all in the order": "SELECT host, n FROM a ORDER BY SUM(n) OVER ()",
    "rows of all": "SELECT host, n FROM a QUALIFY ROW_NUMBER() OVER (ORDER BY n, m, host) < 3",
    "all pairs": "SELECT a.host, b.m FROM a CROSS JOIN b",
    "pairs in a list": "SELECT a.host, b.m FROM a, b WHERE a.host = b.host",
    "a join of other columns": "SELECT a.host, b.m FROM a JOIN b ON a.n = b.n",
    "either of two": "SELECT a.host, b.m FROM a JOIN b ON a.host = b.host OR a.n = b.n",
    "what is not in it": "SELECT a.host, b.m FROM a JOIN b ON NOT a.host = b.host",
    "what is right of it": "SELECT b.host, a.n FROM a RIGHT JOIN b ON a.host = b.host AND a.n = b.n",
    "a question": "SELECT host, n FROM a WHERE n = (SELECT MAX(n) FROM b)",
    "another question": "SELECT host, n FROM a WHERE EXISTS (SELECT 1 FROM b WHERE b.n = a.n)",
    "a question in a join": "SELECT a.host, b.m FROM a JOIN b ON a.host = b.host AND b.n = (SELECT MAX(n) FROM b)",
    "a stage of all": "WITH x AS (SELECT MAX(host) AS host, MAX(n) AS n FROM a) "
    "SELECT a.host, x.n FROM a JOIN x ON x.host = a.host",
    "a stage in other letters": "WITH X AS (SELECT MAX(host) AS host, MAX(n) AS n FROM a) "
    "SELECT a.host, x.n FROM a JOIN x ON x.host = a.host",
    "within": "SELECT host, n FROM (SELECT host, SUM(n) OVER () AS n FROM a) AS x",
    "a union by place": "SELECT host, n FROM a UNION ALL SELECT m::VARCHAR AS m, n FROM b",
    "what is lacking in another": "SELECT host, n FROM a EXCEPT SELECT host, m FROM b",
    "values": "SELECT host, n FROM (VALUES ('a', 1)) AS x(host, n)",
    "other names": "SELECT host, n FROM a AS x(n, host, m)",
    "what calls itself": "WITH RECURSIVE x AS (SELECT host, n FROM a UNION ALL SELECT host, n - 1 FROM x WHERE n > 0) "
    "SELECT host, n FROM x",
    "lists": "SELECT host, UNNEST([n, m]) AS n FROM a",
}


@pytest.mark.parametrize("name", APART)
def test_what_stands_apart(name: str) -> None:
    assert is_partitionable(sqlglot.parse_one(APART[name], read="duckdb"), "host")


@pytest.mark.parametrize("name", NOT_SURE)
def test_what_may_not(name: str) -> None:
    assert not is_partitionable(sqlglot.parse_one(NOT_SURE[name], read="duckdb"), "host")


CONNECTION = duckdb.connect()  # to start an engine takes longer than its answers
ROWS = st.lists(st.tuples(st.sampled_from("xyz"), st.integers(0, 4), st.integers(0, 4)), max_size=8)


@given(a=ROWS, b=ROWS)
@settings(deadline=None, max_examples=examples(60))
def test_what_stands_apart_yields_the_same_of_some_hosts_at_a_time(a: list[object], b: list[object]) -> None:
    for name, rows in (("a", a), ("b", b)):
        CONNECTION.execute(f"CREATE OR REPLACE TABLE {name} (host VARCHAR, n BIGINT, m BIGINT)")
        if rows:
            CONNECTION.executemany(f"INSERT INTO {name} VALUES (?, ?, ?)", rows)
    for query in APART.values():
        found = []
        for hosts in ("('x')", "('y', 'z')"):
            for name in ("a", "b"):
                CONNECTION.execute(
                    f"CREATE OR REPLACE TEMP VIEW {name} AS SELECT * FROM memory.main.{name} WHERE host IN {hosts}"
                )
            found += CONNECTION.execute(query).fetchall()
            CONNECTION.execute("DROP VIEW temp.main.a")
            CONNECTION.execute("DROP VIEW temp.main.b")
        assert sorted(found, key=repr) == sorted(CONNECTION.execute(query).fetchall(), key=repr), query
