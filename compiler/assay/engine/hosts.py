"""Hosts as numbers in what statements read: the type of a run's hosts, and views of events whose hosts are of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from sqlglot import exp

from assay.engine.mount import mount_logs
from assay.lang.scopes import HOST, LOGS
from assay.sql import dialect
from assay.sql.codegen import Statement, creation
from assay.sql.dialect import column
from assay.sql.host_type import enumeration, host_type

if TYPE_CHECKING:
    import duckdb

#: how the engine describes such a type, whose values are texts
ENUMERATION = "ENUM("


def enumerate_hosts(connection: duckdb.DuckDBPyConnection, folders: Sequence[Path]) -> None:
    """Let the hosts of a run whose folders are mounted be a type, in their order as texts, and `logs` have them."""
    names = dialect.select(column(HOST)).distinct().from_(LOGS).order_by(HOST)
    connection.execute(enumeration(names))
    mount_logs(connection, folders, exp.Star(replace=[_numbered(column(HOST))]))


def by_number(statement: Statement, temporary: bool = True) -> str:
    """The text that keeps an event's rows as a view, like `creation`, whose hosts are of that type."""
    return creation(replace(statement, query=numbered(statement)), temporary)


def numbered(statement: Statement) -> exp.Select:
    """The query of an event's rows, whose hosts are of that type."""
    query = statement.query.copy()
    assert isinstance(query, exp.Select)
    for item in query.selects:
        if isinstance(item, exp.Column) and item.name == HOST:
            item.replace(_numbered(item.copy()))
    return query


def _numbered(host: exp.Expr) -> exp.Expr:
    return exp.alias_(exp.Cast(this=host, to=host_type()), HOST)
