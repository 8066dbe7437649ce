"""Compute a system's statements over changed records of a run."""

from __future__ import annotations

import functools
import operator
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from assay.app.audit.lineage import trace_subject
from assay.app.compute.subject import Subject
from assay.app.session.prepare import prepare
from assay.app.session.session import Session
from assay.engine.compiled_plan import compile_plan
from assay.engine.executor import connect
from assay.engine.graph import Node
from assay.engine.mount import bind_parameters, mount_folders
from assay.lang.checked_package import CheckedPackage
from assay.lineage.column_lineage import ROWS, Origin
from assay.lineage.metric_lineage import ROLES
from assay.plan.planner import AppliedFilter
from assay.plan.request import name_rows_statement
from assay.runs.model import NamedRun

#: roles of columns that influence a number; other columns refuse a run, or drop a record
DECIDING = ROLES[:3]
SHARE = 40  # percentage of changed records


class PerturbedRun:
    """Metrics and series of a run over tables whose records can be changed."""

    def __init__(
        self,
        session: Session,
        checked: CheckedPackage,
        run: Path,
        items: Sequence[Subject],
        applied: Sequence[AppliedFilter],
    ) -> None:
        request = functools.reduce(operator.or_, (item.request for item in items))
        compiled = compile_plan(checked, request, applied)
        self.graph = compiled.graph
        (prepared,) = prepare(session, checked, [NamedRun("run", run)], compiled.plan.required_fields)
        self.constants = prepared.constants
        self.connection = connect(1, session.store.create_folder())
        mount_folders(self.connection, prepared.folders)
        self.events = [node.name for node in self.graph if node.statement.kind == "view"]
        self.subjects_by_name = {item.id if item.metrics else name_rows_statement(item.id): item for item in items}
        self.roles = {
            name: trace_subject(item, applied, item.compile(applied)).column_lineage.roles
            for name, item in self.subjects_by_name.items()
        }
        for node in self.graph:
            if node.name in self.events:
                self.connection.execute(node.text)
                self.connection.execute(f'CREATE TABLE "{node.name} held" AS FROM "{node.name}"')
                self.connection.execute(f'DROP VIEW "{node.name}"')
                self.put(node.name, f'FROM "{node.name} held"')
        self.original_results = self.compute_results(self.graph)
        self.touched: set[str] = set()  # events with restored records, whose dependents are outdated

    def list_columns(self, event: str) -> dict[str, str]:
        """Return columns in an event's lineage with types, including its rows; none for absent events."""
        if not self.connection.execute(f'FROM "{event} held" LIMIT 1').fetchall():
            return {}
        rows = self.connection.execute(f'DESCRIBE "{event} held"').fetchall()
        return {row[0]: row[1] for row in rows if row[0] != "host"} | {ROWS: ""}

    def put(self, event: str, query: str) -> None:
        """Replace the records of an event by those of a query."""
        self.connection.execute(f'CREATE OR REPLACE TABLE "{event}" AS {query}')

    def compute_results(self, graph: Iterable[Node]) -> dict[str, list[str]]:
        """Return the results of the statements."""
        rows_by_name: dict[str, list[str]] = {}
        for node in graph:
            kind, values = node.statement.kind, bind_parameters(node.placeholders, self.constants) or None
            if kind == "table":
                self.connection.execute(f'DROP TABLE IF EXISTS "{node.name}"')
                self.connection.execute(node.text, values)
            if node.name in self.subjects_by_name and kind != "view":
                rows = (
                    self._query_rows(f'FROM "{node.name}"', None)
                    if kind == "table"
                    else self._query_rows(node.text, values)
                )
                rows_by_name[node.name] = rows
        return rows_by_name

    def _query_rows(self, text: str, values: Mapping[str, object] | None) -> list[str]:
        return sorted(map(repr, self.connection.execute(text, values).fetchall()))

    def find_changed_results(self, event: str, column: str, kind: str, seed: int) -> set[str]:
        """Return the results that differ after a change of a column in some records."""
        self.put(event, _build_changed_query(event, column, kind, seed))
        changed_results = self.compute_results(self._list_dependents({event, *self.touched}))
        self.put(event, f'FROM "{event} held"')
        self.touched = {event}
        return {name for name, rows in changed_results.items() if rows != self.original_results[name]}

    def _list_dependents(self, events: Iterable[str]) -> list[Node]:
        """Return the statements that read any of the events, directly or not."""
        readers: defaultdict[str, list[str]] = defaultdict(list)
        for node in self.graph:
            for name in node.reads:
                readers[name].append(node.name)
        reached, pending = set[str](), list(events)
        while pending:
            reached |= (new := {*readers[pending.pop()]} - reached)
            pending += sorted(new)
        return [node for node in self.graph if node.name in reached]

    def find_results_using(self, event: str, column: str, deciding_roles: Sequence[str] = DECIDING) -> set[str]:
        """Return the results whose lineage includes a column in one of these roles."""
        return {name for name, roles in self.roles.items() if roles.get(Origin(event, column)) in deciding_roles}

    def close(self) -> None:
        """Close the engine."""
        self.connection.close()


def _build_changed_query(event: str, column: str, kind: str, seed: int) -> str:
    """Return a query of an event's records in which some have another value in a column, or are missing."""
    table, is_chosen = f'"{event} held"', f"hash(host, seq, {seed}) % 100 < {SHARE}"
    if column == ROWS:
        return f"FROM {table} WHERE NOT {is_chosen}"
    if column == "seq":  # places move and stay distinct
        return f"SELECT * REPLACE (CASE WHEN {is_chosen} THEN 2 * seq + 3 ELSE 2 * seq END AS seq) FROM {table}"
    name = f'"{column}"'
    value = f"CASE WHEN {is_chosen} THEN {_build_other_value(name, kind, seed)} ELSE {name} END"
    return f"SELECT * REPLACE ({value} AS {name}) FROM {table}"


def _build_other_value(name: str, kind: str, seed: int) -> str:
    """Return another value of the same type."""
    if kind == "VARCHAR":
        return f"left(md5({name} || {seed}), greatest(length({name}), 3))"
    if kind == "BOOLEAN":
        return f"NOT {name}"
    if kind == "DOUBLE":
        return f"{name} * 1.37 + 0.11"
    return f"CAST({name} + 1 + hash(host, seq) % 7 AS {kind})"
