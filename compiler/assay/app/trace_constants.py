"""The constants that values of a run are computed of, with what the run tells of each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from assay.app.prepare import IngestedRun
from assay.ingest.run_metadata import told_by
from assay.lang.model.package import Constant, Package
from assay.lineage.column_lineage import Origin
from assay.lineage.constants import constants, declared, place
from assay.lineage.graph import kind_of
from assay.lineage.metric_lineage import lineage
from assay.lineage.sample_query import VALUE
from assay.report.run_results import fact
from assay.sql.codegen import Statement


@dataclass(frozen=True, slots=True)
class RunConstant:
    """A constant of a run: its value (instants and durations in ns), that as tables print it, with its unit; where the
    run tells it, and whether it does or its default stands in."""

    name: str
    value: object
    text: str
    doc: str
    place: str
    told: bool

    @property
    def description(self) -> str:
        """Where its value is from, in words."""
        return self.place if self.told else f"its default, as the run has no {self.place}"


@dataclass(frozen=True, slots=True)
class ConstantInputs:
    """The constants that values are computed of, and whether no record has a part in these (`alone`)."""

    constants: tuple[RunConstant, ...] = ()
    alone: bool = False


NOTHING = ConstantInputs()


def find_constants(
    package: Package, prepared: IngestedRun, statements: Sequence[Statement], query: exp.Expr
) -> ConstantInputs:
    """The constants of which the column `value` of a query over statements is computed."""
    asked = Statement("table", "asked", query)
    found = lineage([*statements, asked], [Origin(asked.name, VALUE)], checks=False)
    known = declared(package)
    own = tuple(make_constant(known[item.name], prepared) for item in constants(package, found) if item.role == "value")
    events = (item for item, role in found.roles.items() if role == "value")
    return ConstantInputs(
        own, bool(own) and not any(kind_of(found.statements.get(of.table), of.table) == "event" for of in events)
    )


def make_constant(constant: Constant, prepared: IngestedRun) -> RunConstant:
    value = prepared.constants[constant.name]
    symbol = {"duration": "s", "instant": ""}.get(constant.type, constant.unit.symbol)
    file, path = told_by(constant, prepared.run.directory)
    where = place((file,), path) if file else place(constant.files, constant.path, *constant.or_at)
    text = f"{fact(constant, value)} {symbol}".rstrip()
    return RunConstant(constant.name, value, text, constant.doc, where, bool(file))
