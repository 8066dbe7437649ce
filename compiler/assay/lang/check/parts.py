"""Check the parts of reports, with what they refer to: choices, groups of runs, blocks and claims."""

from __future__ import annotations

import re
from collections import Counter

from assay.lang import scopes
from assay.lang.blocks.pivot import Pivot
from assay.lang.check.checker import Checker
from assay.lang.check.choices import check_choices
from assay.lang.model.parts import Block, Claim, Part
from assay.lang.model.report import Report
from assay.util.diagnostics import suggest_names
from assay.util.numbers import parse_decimal

NAME = re.compile(r"[A-Za-z0-9][\w.-]*")


def check_parts(checker: Checker) -> None:
    """Check the parts of every report of the package."""
    for report in checker.package.reports:
        owner = f"report `{report.name}`"
        _check_cases(checker, owner, report)
        _check_alternatives(checker, owner, report)
        check_choices(checker, owner, report)
        check_run_groups(checker, owner, report)
        for part in report.parts:
            for block in part.blocks:
                block.check(checker, f"part `{part.title}` of {owner}", report, part)
        check_claims(checker, report)


def _check_cases(checker: Checker, owner: str, report: Report) -> None:
    constants = scopes.collect_constants(checker.package)
    if report.cases and report.cases not in constants:
        checker.report_unknown("constant", report.cases, f"in {owner}", constants)


def _check_alternatives(checker: Checker, owner: str, report: Report) -> None:
    """Check that alternatives are several sources of the package."""
    sources = [source.name for source in checker.package.sources]
    for name in report.alternatives:
        if name not in sources:
            checker.report_unknown("source", name, f"in `alternatives` of {owner}", sources, within=(report.name,))
    if len(report.alternatives) != len({*report.alternatives}) or len(report.alternatives) == 1:
        checker.report(
            "alternatives",
            f"`alternatives` of {owner} are not several sources",
            report.alternatives[0],
            expected="two or more different sources, or none",
            found=", ".join(report.alternatives),
            within=(report.name,),
        )


NUMBER = r"-?[0-9]+(\.[0-9]+)?"


def check_claims(checker: Checker, report: Report) -> None:
    """Check what a report says that documents claim."""
    titles = [pivot.title for part in report.parts for pivot in part.select(Pivot)]
    for claim in report.claims:
        owner = f"the claim of `{claim.document}` ({claim.statement}) in report `{report.name}`"
        if titles.count(claim.pivot) != 1:
            several = claim.pivot in titles
            checker.report(
                "claim-pivot",
                f"{'ambiguous' if several else 'unknown'} pivot `{claim.pivot}` in {owner}",
                claim.pivot,
                hint="give each pivot a different title" if several else suggest_names(claim.pivot, titles),
            )
        _check_cells(checker, owner, claim)


def _check_cells(checker: Checker, owner: str, claim: Claim) -> None:
    if not claim.cells:
        checker.report("claim-cells", f"{owner} has no cells", claim.document)
    places = [(cell.down, cell.across) for cell in claim.cells]
    for cell in claim.cells:
        place = f"row {cell.down}, column {cell.across}"
        if not re.fullmatch(NUMBER, cell.value) or parse_decimal(cell.value) is None:
            message = f"a cell of {owner} is not a number ({place})"
            checker.report("claim-value", message, cell.value, expected="digits, as in 35600 or 1.5", found=cell.value)
        if places.count((cell.down, cell.across)) > 1:
            places.remove((cell.down, cell.across))
            checker.report("claim-cells", f"duplicate cell in {owner} ({place})", claim.document)


def check_run_groups(checker: Checker, owner: str, report: Report) -> None:
    """Check the groups of a report, which messages call `owner`, and what refers to them."""
    names = [group.name for group in report.groups]
    for name, count in Counter(names).items():
        if count > 1:
            checker.report("duplicate-group", f"{owner} has several groups `{name}`", name, hint="rename all but one")
        if not NAME.fullmatch(name):
            checker.report(
                "group-name", f"invalid name of a group of {owner}: `{name}`", name or report.name,
                expected="letters, digits, `_`, `.` and `-`", found=f"`{name}`",
            )  # fmt: skip
    for part in report.parts:
        _check_part(checker, owner, report, part)
    titles = Counter(part.title for part in report.parts if names)
    for part in {part.title: part for part in report.parts if titles[part.title] > 1}.values():
        checker.report(
            "duplicate-part", f"{owner} has several parts `{part.title}`", part.group or part.title,
            hint="rename all but one; `B.ofGroup` begins titles with the group's",
        )  # fmt: skip
    used_names = {block.get_group(part) for part in report.parts for block in part.blocks}
    for group in report.groups:
        if group.name not in used_names:
            checker.report(
                "unused-group", f"no part of {owner} shows group `{group.name}`", group.name,
                hint="name it in a part with `B.ofGroup`, or remove it", within=(report.name,),
            )  # fmt: skip
    if report.revision and report.revision not in scopes.collect_constants(checker.package):
        constants = scopes.collect_constants(checker.package)
        checker.report_unknown("constant", report.revision, f"in `revision` of {owner}", constants)


def _name_block(block: Block) -> str:
    """Return the title of a block in code quotes; that of a table without a title is its kind."""
    return f"`{block.title}`" if block.title else type(block).__name__.lower()


def _check_part(checker: Checker, owner: str, report: Report, part: Part) -> None:
    """Check that a part, and each of its blocks, is about one group if the report has any."""
    names = [group.name for group in report.groups]
    part_owner, within = f"part `{part.title}` of {owner}", (report.name, part.title)
    block_groups = [group for block in part.blocks if (group := getattr(block, "group", ""))]
    for name in dict.fromkeys((part.group, *block_groups)):
        if name and name not in names:
            checker.report_unknown("group", name, f"in {part_owner}", names)
    for name in dict.fromkeys(block_groups):
        if part.group and name != part.group:
            checker.report(
                "other-group", f"a verdict of {part_owner} is about another group", name,
                expected=part.group, found=name,
            )  # fmt: skip
    blocks = [block for block in part.blocks if names and not block.get_group(part) and not block.read_prose()]
    if blocks:
        checker.report(
            "part-group", f"{part_owner} names no group, but shows {_name_block(blocks[0])} of one",
            part.title if checker.locate(part.title)[0] else report.name,
            expected=f"one of the groups {', '.join(names)}",
            hint="put the part into `B.ofGroup`, or a verdict into `B.verdictOfGroup`", within=within,
        )  # fmt: skip
