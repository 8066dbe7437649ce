"""Leave out what a report cannot show because runs lack a source."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from assay.app.session.required_sources import has_source
from assay.ingest.discovery import suggest_runs
from assay.lang import dependencies, formula
from assay.lang.checked_package import CheckedPackage
from assay.lang.model.package import Source
from assay.lang.model.parts import FIGURES, Block, Part
from assay.lang.model.report import Report, Section
from assay.report.blocks.rows import request_quote_rows
from assay.report.prose import Prose
from assay.runs.model import NamedRun
from assay.util.diagnostics import AssayError, fail

Notes = Mapping[str, tuple[str, ...]]
"""Title of a part -> sentences about what the part does not show; those on all tables have an empty title."""


def drop_unavailable_parts(
    checked: CheckedPackage,
    report: Report,
    prose: Mapping[str, Prose],
    runs: Sequence[NamedRun],
    unrecognised: Collection[tuple[str, str]] = (),
    group: str = "",
) -> tuple[Report, Notes]:
    """Return the report without what needs a source that some run lacks, and notes on what was dropped.

    Figures remain if a run has all of their sources; they show such runs only. The prose of a part is dropped as a
    whole if one of its quotes needs such a source. A run also lacks a source if `unrecognised` has its id with the name
    of the source: it has files, but no event in them. `group` is the group that the report and the runs are of.

    Raises AssayError `no-source` if nothing remains that shows records.
    """
    runs_without_source = _list_runs_without_sources(checked, runs, unrecognised)
    missing_sources = [source for source in checked.package.sources if runs_without_source[source.name]]
    replaced = _list_replaced_sources(report, runs_without_source)
    if len(checked.package.sources) == 1:  # reading the source reports best what is missing
        return report, {}
    finder = _MissingSourceFinder(checked, report, runs_without_source, len(runs))
    parts, missing_names, omitted_titles = [], set[str](), list[str]()
    notes = {"": tuple(_list_left_out(finder, [item for item in missing_sources if item.name not in replaced]))}
    for part in report.parts:
        remaining_part, part_missing, dropped = _drop_unavailable_blocks(finder, part, prose)
        missing_names |= part_missing
        if part_missing and part_missing <= replaced and all(block.read_prose() for block in remaining_part.blocks):
            omitted_titles.append(part.title)
            continue
        parts.append(remaining_part)
        if part_missing - replaced:
            partial = {name for block in remaining_part.blocks for name in finder.find_for_block(block)}
            notes[part.title] = tuple(
                _describe_missing_source(
                    source,
                    runs_without_source[source.name],
                    source.name in partial,
                    source.name in dropped,
                    finder.name_left_out(dataclasses.replace(report, parts=(part,)), source.name),
                )
                for source in missing_sources
                if source.name in part_missing - replaced
            )
    if missing_names and any(map(_needs_records, report.parts)) and not any(map(_needs_records, parts)):
        raise create_nothing_to_show_error(
            report, [source for source in missing_sources if source.name in missing_names], runs, group
        )
    if parts and missing_names & replaced:
        used_sources = [
            source for source in checked.package.sources if source.name in {*report.alternatives} - replaced
        ]
        notes[parts[0].title] = (
            *notes.get(parts[0].title, ()),
            _describe_alternative(
                used_sources, [name for name in report.alternatives if name in replaced], omitted_titles
            ),
        )
    choices = tuple(choice for choice in report.choices if not finder.find_for_choice(choice.name))
    return dataclasses.replace(report, parts=tuple(parts), choices=choices), notes


def _list_left_out(finder: _MissingSourceFinder, missing: Iterable[Source]) -> Iterator[str]:
    """Yield a sentence for each missing source on the metrics that the tables of a report leave out."""
    for source in missing:
        if names := finder.name_left_out(finder.report, source.name):
            yield _describe_missing_source(source, finder.runs_without_source[source.name], False, False, names)


def divide_runs(
    checked: CheckedPackage, report: Report, runs: Sequence[NamedRun], unrecognised: Collection[tuple[str, str]]
) -> list[tuple[NamedRun, ...]]:
    """Divide runs by which of the sources they lack that figures of an available report read."""
    if len(checked.package.sources) == 1:  # one error names all runs that lack it
        return [tuple(runs)]
    runs_without_source = _list_runs_without_sources(checked, runs, unrecognised)
    finder = _MissingSourceFinder(checked, report, runs_without_source, len(runs))
    needed = {name for block in report.blocks for name in finder.find_for_block(block)}
    runs_by_lack: dict[frozenset[str], list[NamedRun]] = {}
    for run in runs:
        lack = frozenset(name for name in needed if run.id in runs_without_source[name])
        runs_by_lack.setdefault(lack, []).append(run)
    return [tuple(items) for items in runs_by_lack.values()]


def _list_runs_without_sources(
    checked: CheckedPackage, runs: Sequence[NamedRun], unrecognised: Collection[tuple[str, str]]
) -> dict[str, list[str]]:
    """Return the ids of the runs that lack each source."""
    return {
        source.name: [run.id for run in runs if not has_source(run, source) or (run.id, source.name) in unrecognised]
        for source in checked.package.sources
    }


def _list_replaced_sources(report: Report, runs_without_source: Mapping[str, Sequence[str]]) -> set[str]:
    """Return the alternative sources that some run lacks, if all runs have another of the alternatives."""
    unavailable = {name for name in report.alternatives if runs_without_source.get(name)}
    return unavailable if unavailable != {*report.alternatives} else set()


def _describe_alternative(
    used_sources: Sequence[Source], replaced: Sequence[str], omitted_titles: Sequence[str]
) -> str:
    """Return the sentence on the source that a report reads, and on what it leaves out."""
    sources = " and ".join(f"{item.name} ({item.doc[:1].lower()}{item.doc[1:]})" for item in used_sources)
    is_single = len(replaced) == 1
    subject = f"Source {replaced[0]}, its alternative, is" if is_single else f"Sources {', '.join(replaced)} are"
    titles = f", and with {'it' if is_single else 'them'} the parts {', '.join(omitted_titles)}"
    return f"This report reads source {sources}. {subject} left out{titles if omitted_titles else ''}."


def _needs_records(part: Part) -> bool:
    """Return whether a part has a block that shows records of runs."""
    return any(block.needs_records for block in part.blocks)


def create_nothing_to_show_error(
    report: Report, missing: Sequence[Source], runs: Sequence[NamedRun], group: str = ""
) -> AssayError:
    """Return the error for a report of which no part can be shown, since runs lack the sources `missing`."""
    has_alternatives = len({source.name for source in missing} & {*report.alternatives}) > 1
    return fail(
        "no-source",
        f"report `{report.name}` has nothing to show{f' of group `{group}`' if group else ''}: each of its parts "
        "needs records that a run lacks",
        expected=(" or " if has_alternatives else "; ").join(
            f"{_describe_source_files(source)} ({source.doc})" for source in missing
        ),
        found=", ".join(run.place for run in runs),
        hint=next(filter(None, (suggest_runs(missing, run.directory) for run in runs)), ""),
    )


def _describe_source_files(source: Source) -> str:
    """Describe the names of a source's files."""
    if source.host_files:
        return f"files {source.hosts}"
    return f"{f'directories {source.hosts} with ' if source.hosts else ''}files {', '.join(source.logs)}"


def _describe_missing_source(
    source: Source, runs: Sequence[str], is_partial: bool, is_dropped: bool, left_out: Sequence[str]
) -> str:
    """Return a sentence on the figures without some runs, which lack a source, and on what is left out.

    `left_out` are names of metrics that sections leave out.
    """
    subject = f"Run {runs[0]} has" if len(runs) == 1 else f"Runs {', '.join(runs)} have"
    doc = source.doc[:1].lower() + source.doc[1:]
    effects = ["figures that read it show the other runs"] if is_partial else []
    effects += [f"tables of metrics leave out: {', '.join(left_out)}"] if left_out else []
    effects += [f"{'other ' if effects else ''}blocks and texts that read it are left out"] if is_dropped else []
    return f"{subject} no records of source {source.name} ({doc}), so {', and '.join(effects)}."


@dataclasses.dataclass(frozen=True, slots=True)
class _MissingSourceFinder:
    """Find which sources that some run lacks a part of a report needs.

    `runs_without_source` has the runs that lack each source, of `run_count` runs.
    """

    checked: CheckedPackage
    report: Report
    runs_without_source: Mapping[str, Sequence[str]]
    run_count: int

    def find_for_tables(self, tables: Iterable[str]) -> set[str]:
        """Return the missing sources that tables are computed from."""
        events = dependencies.collect_dependencies(self.checked.package, [], [], tables).events
        return {
            event.source
            for event in self.checked.package.events
            if event.name in events and self.runs_without_source[event.source]
        }

    def find_for_choice(self, name: str) -> set[str]:
        """Return the missing sources of a choice; none if the name is empty."""
        return self.find_for_tables([self.report.get_choice(name).grain]) if name else set()

    def find_for_block(self, block: Block, texts: Iterable[Prose] = ()) -> set[str]:
        """Return the missing sources of a block, of the choices that it refers to, and of the texts that it shows."""
        rows = (request.grain for request in block.read_rows(self.checked.package))
        return self.find_for_tables({*rows, *block.read_series()}).union(
            self.find_for_metrics(block.read_metrics()),
            *map(self.find_for_choice, block.list_choices()),
            *map(self._find_for_prose, texts),
        )

    def find_for_metrics(self, names: Iterable[str]) -> set[str]:
        """Return the missing sources that metrics are computed from."""
        metrics_by_id = formula.index_metrics(self.checked.package)
        metrics = formula.list_measured(metrics_by_id, map(self.checked.get_metric, names))
        return self.find_for_tables(metric.grain for metric in metrics)

    def name_left_out(self, report: Report, source: str) -> list[str]:
        """Return the names of the metrics of the sections of a report that need a missing source."""
        names = dict.fromkeys(name for _, section in report.metric_sections for name in section.metrics)
        return [self.checked.get_metric(name).name for name in names if source in self.find_for_metrics([name])]

    def can_show_some_runs(self, block: Block) -> bool:
        """Return whether a block that needs missing sources is a figure of which some run has all sources."""
        sources = self.find_for_block(block)
        excluded_runs = {run for name in sources for run in self.runs_without_source[name]}
        chosen = set[str]().union(*map(self.find_for_choice, block.list_choices()))
        is_figure = block.appears_as in FIGURES and not block.list_inner_blocks()
        has_alternatives = sources & {*self.report.alternatives}  # runs of different ones are not comparable
        return is_figure and not chosen and not has_alternatives and len(excluded_runs) < self.run_count

    def _find_for_prose(self, prose: Prose) -> set[str]:
        """Return the missing sources of the quotes of a text, and of the choices that they refer to."""
        tables = {
            request_quote_rows(self.checked, quote).grain.name if quote.reads_row else quote.metric
            for quote in prose.quotes
            if quote.reads_row or quote.statistic
        }
        return self.find_for_tables(tables).union(*(self.find_for_choice(quote.choice) for quote in prose.quotes))


def _drop_unavailable_blocks(
    finder: _MissingSourceFinder, part: Part, prose: Mapping[str, Prose]
) -> tuple[Part, set[str], set[str]]:
    """Return a part without the blocks and prose that need missing sources.

    Also return the names of these sources, and of those that what was dropped needs.
    """
    missing_by_block = [
        (block, finder.find_for_block(block, [prose[file] for file in block.read_prose()])) for block in part.blocks
    ]
    blocks = tuple(
        remaining_block
        for block, sources in missing_by_block
        if (
            remaining_block := _drop_unavailable_columns(finder, block)
            if sources and not finder.can_show_some_runs(block)
            else block
        )
    )
    remaining_part = dataclasses.replace(part, blocks=blocks)
    dropped = set[str]().union(
        *(
            sources
            for block, sources in missing_by_block
            if block not in blocks and not isinstance(block, Section)  # its metrics are named
        )
    )
    return remaining_part, dropped.union(*(sources for _, sources in missing_by_block)), dropped


def _drop_unavailable_columns(finder: _MissingSourceFinder, block: Block) -> Block | None:
    """Return a block without its inner blocks that need missing sources; None if nothing remains of it."""
    available_blocks = [item for item in block.list_inner_blocks() if not finder.find_for_block(item)]
    remaining_block = block.keep_inner_blocks(available_blocks) if available_blocks else None
    return None if remaining_block is None or finder.find_for_block(remaining_block) else remaining_block
