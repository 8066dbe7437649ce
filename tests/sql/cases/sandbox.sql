-- What may the SQL of a relation that declares the tables `slots` and `blocks` do?

SELECT hash(slot) AS a FROM slots;
error[sql-function]: the SQL of relation `r` calls `hash`, which depends on the engine, not on the data
at: 1:8 hash
expected: functions of the data alone

SELECT typeof(slot) AS a FROM slots;
error[sql-function]: the SQL of relation `r` calls `typeof`, which depends on the engine, not on the data
at: 1:8 typeof
expected: functions of the data alone

SELECT vector_type(slot) AS a FROM slots;
error[sql-function]: the SQL of relation `r` calls `vector_type`, which depends on the engine, not on the data
at: 1:8 vector_type
expected: functions of the data alone

SELECT approx_quantile(slot, 0.5) AS a FROM slots;
error[sql-function]: the SQL of relation `r` calls `approx_quantile`, whose estimates differ each time
at: 1:8 approx_quantile
expected: functions of the data alone

SELECT list_aggregate([slot], 'APPROX_QUANTILE', 0.5) AS a FROM slots;
error[sql-function]: the SQL of relation `r` calls `approx_quantile`, whose estimates differ each time
expected: functions of the data alone

SELECT array_aggr([slot], 'APPROX_QUANTILE', 0.5) AS a FROM slots;
error[sql-function]: the SQL of relation `r` calls `approx_quantile`, whose estimates differ each time
expected: functions of the data alone

SELECT aggregate([slot], 'APPROX_QUANTILE', 0.5) AS a FROM slots;
error[sql-function]: the SQL of relation `r` calls `approx_quantile`, whose estimates differ each time
expected: functions of the data alone

SELECT reservoir_quantile(slot, 0.5) AS a FROM slots;
error[sql-function]: the SQL of relation `r` calls `reservoir_quantile`, whose estimates differ each time
at: 1:8 reservoir_quantile
expected: functions of the data alone

SELECT list_aggregate([slot], 'RESERVOIR_QUANTILE', 0.5) AS a FROM slots;
error[sql-function]: the SQL of relation `r` calls `reservoir_quantile`, whose estimates differ each time
expected: functions of the data alone

SELECT array_aggr([slot], 'RESERVOIR_QUANTILE', 0.5) AS a FROM slots;
error[sql-function]: the SQL of relation `r` calls `reservoir_quantile`, whose estimates differ each time
expected: functions of the data alone

SELECT aggregate([slot], 'RESERVOIR_QUANTILE', 0.5) AS a FROM slots;
error[sql-function]: the SQL of relation `r` calls `reservoir_quantile`, whose estimates differ each time
expected: functions of the data alone

SELECT list_aggr([slot], 'approx' || '_quantile', 0.5) AS a FROM slots;
error[sql-function]: the SQL of relation `r` calls `list_aggr` without a literal function name
at: 1:8 list_aggr
expected: the name of a function as a string literal

SELECT list_aggregate([slot], 'max') AS a FROM slots;
accepted

SELECT slot FROM slots LIMIT 3;
error[sql-order]: the SQL of relation `r` has a `LIMIT` without ORDER BY: its result may differ each time
at: 1:24 LIMIT
expected: ORDER BY with columns that distinguish all rows

SELECT slot FROM slots OFFSET 3;
error[sql-order]: the SQL of relation `r` has a `OFFSET` without ORDER BY: its result may differ each time
at: 1:24 OFFSET
expected: ORDER BY with columns that distinguish all rows

SELECT slot FROM (SELECT slot FROM slots ORDER BY slot) LIMIT 3;
error[sql-order]: the SQL of relation `r` has a `LIMIT` without ORDER BY: its result may differ each time
at: 1:57 LIMIT
expected: ORDER BY with columns that distinguish all rows

SELECT slot FROM slots UNION ALL SELECT slot FROM blocks LIMIT 3;
error[sql-order]: the SQL of relation `r` has a `LIMIT` without ORDER BY: its result may differ each time
at: 1:58 LIMIT
expected: ORDER BY with columns that distinguish all rows

SELECT max(slot) OVER () AS s FROM slots LIMIT 3;
error[sql-order]: the SQL of relation `r` has a `LIMIT` without ORDER BY: its result may differ each time
at: 1:42 LIMIT
expected: ORDER BY with columns that distinguish all rows

SELECT DISTINCT ON (slot) slot, host FROM slots;
error[sql-order]: the SQL of relation `r` has a `DISTINCT` ON without ORDER BY: its result may differ each time
at: 1:8 DISTINCT
expected: ORDER BY with columns that distinguish all rows

SELECT slot FROM slots ORDER BY slot NULLS FIRST LIMIT (SELECT first(slot) FROM slots);
error[sql-order]: the SQL of relation `r` has a `first` over the rows of a group without ORDER BY: its result may differ each time
at: 1:64 first
expected: ORDER BY with columns that distinguish all rows

SELECT last(slot) FILTER (WHERE slot > 1) FROM slots;
error[sql-order]: the SQL of relation `r` has a `last` over the rows of a group without ORDER BY: its result may differ each time
at: 1:8 last
expected: ORDER BY with columns that distinguish all rows

SELECT string_agg(host, ', ') FROM slots;
error[sql-order]: the SQL of relation `r` has a `string_agg` over the rows of a group without ORDER BY: its result may differ each time
at: 1:8 string_agg
expected: ORDER BY with columns that distinguish all rows

SELECT any_value(host) FROM slots GROUP BY slot;
error[sql-order]: the SQL of relation `r` has a `any_value` over the rows of a group without ORDER BY: its result may differ each time
at: 1:8 any_value
expected: ORDER BY with columns that distinguish all rows

SELECT any_value(host) OVER (PARTITION BY slot) FROM slots;
error[sql-order]: the SQL of relation `r` has a `any_value` in a window without ORDER BY: its result may differ each time
at: 1:8 any_value
expected: ORDER BY with columns that distinguish all rows

SELECT ARBITRARY(host) FROM slots;
error[sql-order]: the SQL of relation `r` has a `ARBITRARY` over the rows of a group without ORDER BY: its result may differ each time
at: 1:8 ARBITRARY
expected: ORDER BY with columns that distinguish all rows

SELECT list(host)[1] FROM slots;
error[sql-order]: the SQL of relation `r` has a `list` over the rows of a group without ORDER BY: its result may differ each time
at: 1:8 list
expected: ORDER BY with columns that distinguish all rows

SELECT array_agg(host) FILTER (WHERE slot > 1) FROM slots;
error[sql-order]: the SQL of relation `r` has a `array_agg` over the rows of a group without ORDER BY: its result may differ each time
at: 1:8 array_agg
expected: ORDER BY with columns that distinguish all rows

SELECT list(DISTINCT host) FROM slots;
error[sql-order]: the SQL of relation `r` has a `list` over the rows of a group without ORDER BY: its result may differ each time
at: 1:8 list
expected: ORDER BY with columns that distinguish all rows

SELECT list_aggregate(list(host), 'first') FROM slots;
error[sql-order]: the SQL of relation `r` has a `list` over the rows of a group without ORDER BY: its result may differ each time
at: 1:23 list
expected: ORDER BY with columns that distinguish all rows

SELECT list(host) OVER (PARTITION BY slot) FROM slots;
error[sql-order]: the SQL of relation `r` has a `list` in a window without ORDER BY: its result may differ each time
at: 1:8 list
expected: ORDER BY with columns that distinguish all rows

SELECT json_group_array(host) FROM slots;
error[sql-order]: the SQL of relation `r` has a `json_group_array` over the rows of a group without ORDER BY: its result may differ each time
at: 1:8 json_group_array
expected: ORDER BY with columns that distinguish all rows

SELECT lttb(slot, slot, 9) FROM slots;
error[sql-order]: the SQL of relation `r` has a `lttb` over the rows of a group without ORDER BY: its result may differ each time
at: 1:8 lttb
expected: ORDER BY with columns that distinguish all rows

SELECT variant_group_array(host) FROM slots;
error[sql-order]: the SQL of relation `r` has a `variant_group_array` over the rows of a group without ORDER BY: its result may differ each time
at: 1:8 variant_group_array
expected: ORDER BY with columns that distinguish all rows

SELECT mode(host) FROM slots;
error[sql-order]: the SQL of relation `r` has a `mode` over the rows of a group without ORDER BY: its result may differ each time
at: 1:8 mode
expected: ORDER BY with columns that distinguish all rows

SELECT max_by(host, 1) FROM slots;
error[sql-order]: the SQL of relation `r` has a `max_by` by a value that all rows of the group share: its result may differ each time
at: 1:8 max_by
expected: ORDER BY with columns that distinguish all rows

SELECT arg_min(host, 'x') FROM slots;
error[sql-order]: the SQL of relation `r` has a `arg_min` by a value that all rows of the group share: its result may differ each time
at: 1:8 arg_min
expected: ORDER BY with columns that distinguish all rows

SELECT row_number() OVER (PARTITION BY host) FROM slots;
error[sql-order]: the SQL of relation `r` has a `row_number` in a window without ORDER BY: its result may differ each time
at: 1:8 row_number
expected: ORDER BY with columns that distinguish all rows

SELECT lag(slot IGNORE NULLS) OVER () FROM slots;
error[sql-order]: the SQL of relation `r` has a `lag` in a window without ORDER BY: its result may differ each time
at: 1:8 lag
expected: ORDER BY with columns that distinguish all rows

SELECT first_value(slot) OVER w FROM slots WINDOW w AS (PARTITION BY host);
error[sql-order]: the SQL of relation `r` has a `first_value` in a window without ORDER BY: its result may differ each time
at: 1:8 first_value
expected: ORDER BY with columns that distinguish all rows

SELECT slot FROM slots ORDER BY slot LIMIT 3;
accepted

SELECT max(slot) AS slot FROM slots LIMIT 1;
accepted

SELECT slot FROM slots WHERE EXISTS (SELECT 1 FROM blocks LIMIT 1);
accepted

SELECT DISTINCT ON (slot) slot, host FROM slots ORDER BY slot, host;
accepted

SELECT first(slot ORDER BY host) AS slot FROM slots;
accepted

SELECT string_agg(DISTINCT host, ', ' ORDER BY host) AS hosts FROM slots;
accepted

SELECT row_number() OVER (ORDER BY host) AS n FROM slots;
accepted

SELECT row_number() OVER (w ORDER BY host) AS n FROM slots WINDOW w AS (PARTITION BY slot);
accepted

SELECT first_value(slot) OVER w AS slot FROM slots WINDOW w AS (ORDER BY host);
accepted

SELECT any_value(slot ORDER BY host) AS slot, list(host ORDER BY host) AS hosts FROM slots;
accepted

SELECT len(list(host)) AS n, list_sort(list(host) FILTER (WHERE slot > 1)) AS hosts FROM slots;
accepted

SELECT list(slot) OVER (PARTITION BY host ORDER BY slot) AS slots FROM slots;
accepted

SELECT count(*) OVER () AS n, arg_max(slot, host) OVER (PARTITION BY host) AS slot FROM slots;
accepted

SELECT * FROM read_text('/etc/passwd');
error[sql-function]: the SQL of relation `r` calls `read_text`, which depends on more than its tables
at: 1:15 read_text
expected: functions of the data alone, not of files, settings, the clock or chance

SELECT * FROM read_csv('x.csv');
error[sql-function]: the SQL of relation `r` calls `read_csv`, which depends on more than its tables
at: 1:15 read_csv
expected: functions of the data alone, not of files, settings, the clock or chance

SELECT * FROM read_parquet(['x']);
error[sql-function]: the SQL of relation `r` calls `read_parquet`, which depends on more than its tables
at: 1:15 read_parquet
expected: functions of the data alone, not of files, settings, the clock or chance

SELECT * FROM glob('/etc/*');
error[sql-function]: the SQL of relation `r` calls `glob`, which depends on more than its tables
at: 1:15 glob
expected: functions of the data alone, not of files, settings, the clock or chance

SELECT max(slot) FROM slots WHERE slot < (SELECT count(*) FROM read_blob('x'));
error[sql-function]: the SQL of relation `r` calls `read_blob`, which depends on more than its tables
at: 1:64 read_blob
expected: functions of the data alone, not of files, settings, the clock or chance

SELECT getenv('HOME') AS a FROM slots;
error[sql-function]: the SQL of relation `r` calls `getenv`, which depends on more than its tables
at: 1:8 getenv
expected: functions of the data alone, not of files, settings, the clock or chance

SELECT current_setting('TimeZone') AS a FROM slots;
error[sql-function]: the SQL of relation `r` calls `current_setting`, which depends on more than its tables
at: 1:8 current_setting
expected: functions of the data alone, not of files, settings, the clock or chance

SELECT now() AS a FROM slots;
error[sql-function]: the SQL of relation `r` calls `now`, which depends on more than its tables
at: 1:8 now
expected: functions of the data alone, not of files, settings, the clock or chance

SELECT CURRENT_TIMESTAMP AS a FROM slots;
error[sql-function]: the SQL of relation `r` calls `current_timestamp`, which depends on more than its tables
at: 1:8 CURRENT_TIMESTAMP
expected: functions of the data alone, not of files, settings, the clock or chance

SELECT random() AS a FROM slots;
error[sql-function]: the SQL of relation `r` calls `rand`, which depends on more than its tables
expected: functions of the data alone, not of files, settings, the clock or chance

SELECT uuid() AS a FROM slots;
error[sql-function]: the SQL of relation `r` calls `uuid`, which depends on more than its tables
at: 1:8 uuid
expected: functions of the data alone, not of files, settings, the clock or chance

SELECT * FROM query('SELECT 1');
error[sql-function]: the SQL of relation `r` calls `query`, which depends on more than its tables
at: 1:15 query
expected: functions of the data alone, not of files, settings, the clock or chance

SELECT * FROM duckdb_settings();
error[sql-function]: the SQL of relation `r` calls `duckdb_settings`, which depends on more than its tables
at: 1:15 duckdb_settings
expected: functions of the data alone, not of files, settings, the clock or chance

SELECT h FROM LATERAL json_execute_serialized_sql('x') AS t (h);
error[sql-function]: the SQL of relation `r` calls `json_execute_serialized_sql`, which depends on more than its tables
at: 1:23 json_execute_serialized_sql
expected: functions of the data alone, not of files, settings, the clock or chance

SELECT * FROM slots, LATERAL duckdb_settings();
error[sql-function]: the SQL of relation `r` calls `duckdb_settings`, which depends on more than its tables
at: 1:30 duckdb_settings
expected: functions of the data alone, not of files, settings, the clock or chance

SELECT * FROM LATERAL histogram(other, secret);
error[sql-function]: the SQL of relation `r` calls `histogram`, which depends on more than its tables
at: 1:23 histogram
expected: functions of the data alone, not of files, settings, the clock or chance

SELECT json_serialize_plan('SELECT 1') FROM slots;
error[sql-function]: the SQL of relation `r` calls `json_serialize_plan`, which depends on more than its tables
at: 1:8 json_serialize_plan
expected: functions of the data alone, not of files, settings, the clock or chance

SELECT version() FROM slots;
error[sql-function]: the SQL of relation `r` calls `current_version`, which depends on more than its tables
expected: functions of the data alone, not of files, settings, the clock or chance

SELECT current_schema FROM slots;
error[sql-function]: the SQL of relation `r` calls `current_schema`, which depends on more than its tables
at: 1:8 current_schema
expected: functions of the data alone, not of files, settings, the clock or chance

SELECT age(slot) FROM slots;
error[sql-function]: the SQL of relation `r` calls `age`, which depends on more than its tables
at: 1:8 age
expected: functions of the data alone, not of files, settings, the clock or chance

SELECT ago(slot) FROM slots;
error[sql-function]: the SQL of relation `r` calls `ago`, which depends on more than its tables
at: 1:8 ago
expected: functions of the data alone, not of files, settings, the clock or chance

SELECT sleep_ms(1000) FROM slots;
error[sql-function]: the SQL of relation `r` calls `sleep_ms`, which depends on more than its tables
at: 1:8 sleep_ms
expected: functions of the data alone, not of files, settings, the clock or chance

SELECT in_search_path('a', 'b') FROM slots;
error[sql-function]: the SQL of relation `r` calls `in_search_path`, which depends on more than its tables
at: 1:8 in_search_path
expected: functions of the data alone, not of files, settings, the clock or chance

SELECT * FROM slots USING SAMPLE 3;
error[sql-function]: the SQL of relation `r` calls `tablesample`, which depends on more than its tables
expected: functions of the data alone, not of files, settings, the clock or chance

SELECT * FROM slots TABLESAMPLE 10%;
error[sql-function]: the SQL of relation `r` calls `tablesample`, which depends on more than its tables
at: 1:21 TABLESAMPLE
expected: functions of the data alone, not of files, settings, the clock or chance

COPY slots TO 'x.csv';
error[sql-statement]: the SQL of relation `r` is not a single query
expected: SELECT ...
found: COPY

ATTACH 'x.db';
error[sql-statement]: the SQL of relation `r` is not a single query
expected: SELECT ...
found: ATTACH

INSTALL httpfs;
error[sql-statement]: the SQL of relation `r` is not a single query
expected: SELECT ...
found: INSTALL

DROP TABLE slots;
error[sql-statement]: the SQL of relation `r` is not a single query
expected: SELECT ...
found: DROP

SELECT 1; DROP TABLE slots;
error[sql-statement]: the SQL of relation `r` is not a single query
expected: SELECT ...
found: SELECT, DROP

SET threads = 1;
error[sql-statement]: the SQL of relation `r` is not a single query
expected: SELECT ...
found: SET

PRAGMA database_list;
error[sql-statement]: the SQL of relation `r` is not a single query
expected: SELECT ...
found: PRAGMA

;
error[sql-statement]: the SQL of relation `r` is not a single query
expected: SELECT ...
found: nothing

SELECT * FROM 'x.csv';
error[sql-table]: the SQL of relation `r` reads the undeclared table `x.csv`
expected: blocks, slots

SELECT * FROM information_schema.tables;
error[sql-table]: the SQL of relation `r` reads the undeclared table `information_schema.tables`
at: 1:34 tables
expected: blocks, slots

SELECT * FROM slot;
error[sql-table]: the SQL of relation `r` reads the undeclared table `slot`
at: 1:15 slot
expected: blocks, slots

SELECT * FROM main.slots;
error[sql-table]: the SQL of relation `r` reads the undeclared table `main.slots`
at: 1:20 slots
expected: blocks, slots

WITH d AS (DELETE FROM slots RETURNING slot) SELECT * FROM d;
error[sql-statement]: the SQL of relation `r` contains a statement that is not a query
at: 1:12 DELETE
expected: SELECT ...
found: DELETE

WITH d AS (UPDATE slots SET slot = 1 RETURNING slot) SELECT * FROM d;
error[sql-statement]: the SQL of relation `r` contains a statement that is not a query
at: 1:12 UPDATE
expected: SELECT ...
found: UPDATE

SELECT * FROM (WITH d AS (DELETE FROM slots RETURNING slot) SELECT * FROM d);
error[sql-statement]: the SQL of relation `r` contains a statement that is not a query
at: 1:27 DELETE
expected: SELECT ...
found: DELETE

SELECT * FROM (WITH other AS (SELECT 1) SELECT * FROM other) AS a, other;
error[sql-table]: the SQL of relation `r` reads the undeclared table `other`
at: 1:21 other
expected: blocks, slots

SELECT * FROM (WITH sqlite_master AS (SELECT 1) SELECT 1) AS a, sqlite_master;
error[sql-table]: the SQL of relation `r` reads the undeclared table `sqlite_master`
at: 1:21 sqlite_master
expected: blocks, slots

SELECT * FROM (WITH "/etc/x.csv" AS (SELECT 1) SELECT 1) AS a, "/etc/x.csv";
error[sql-table]: the SQL of relation `r` reads the undeclared table `/etc/x.csv`
at: 1:21 "/etc/x.csv"
expected: blocks, slots

WITH a AS (SELECT * FROM b), b AS (SELECT 1) SELECT * FROM a;
error[sql-table]: the SQL of relation `r` reads the undeclared table `b`
at: 1:26 b
expected: blocks, slots

WITH a AS (SELECT * FROM a) SELECT * FROM a;
error[sql-table]: the SQL of relation `r` reads the undeclared table `a`
at: 1:6 a
expected: blocks, slots

SELECT * FROM slots, LATERAL (SELECT * FROM other) AS t;
error[sql-table]: the SQL of relation `r` reads the undeclared table `other`
at: 1:45 other
expected: blocks, slots

SELECT s.slot FROM Slots AS s INNER JOIN blocks USING (slot);
accepted

WITH RECURSIVE a AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM a WHERE n < 3) SELECT n FROM a;
accepted

SELECT i FROM range(3) AS r(i);
accepted

SELECT unnest([1, 2]) AS i;
accepted

SELECT x FROM slots, unnest([1, 2]) AS u(x);
accepted

WITH a AS (SELECT * FROM slots), b AS (SELECT * FROM a) SELECT * FROM b, a;
accepted

WITH RECURSIVE a AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM a WHERE n < 3) SELECT * FROM a;
accepted

WITH a AS (SELECT 1) SELECT * FROM (WITH b AS (SELECT * FROM a) SELECT * FROM b), a;
accepted

WITH slots AS (SELECT * FROM slots) SELECT * FROM slots;
accepted

SELECT * FROM slots, LATERAL (SELECT slots.slot) AS t, UNNEST([1]) AS u (n);
accepted

SELECT age(a, b), slots.current_slot FROM slots;
accepted

SELECT 'abc;
error[sql]: the SQL of relation `r` does not parse: Error tokenizing 'SELECT 'ab'

SELECT $$abc;
error[sql]: the SQL of relation `r` does not parse: Error tokenizing 'SELECT $$ab'

SELECT /* abc;
error[sql]: the SQL of relation `r` does not parse: Error tokenizing 'SELECT /* ab'
