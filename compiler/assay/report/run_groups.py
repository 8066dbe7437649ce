"""Label the runs of an article, and hold what each group of its runs shows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from assay.lang.blocks.grid import Grid
from assay.lang.model.article import Article, get_group_name
from assay.report.blocks.context import ComparisonColumns
from assay.report.run_results import RunFigures, list_full_labels, list_own_names, make_labels_unique
from assay.util.escape import shorten


@dataclass(frozen=True, slots=True)
class ShownGroup:
    """The runs of a group, or all runs of an article without groups (with an empty name).

    `article` has what of the article these runs can show, `comparison` the phases that comparisons show as columns
    instead of the runs.
    """

    name: str
    article: Article
    runs: Sequence[RunFigures]
    comparison: ComparisonColumns | None = None

    @property
    def columns(self) -> Sequence[RunFigures]:
        """The columns of comparisons: phases or runs."""
        return self.comparison.columns if self.comparison else self.runs


def list_cases(article: Article, runs: Sequence[RunFigures]) -> list[str]:
    """Return the case of each run, or an empty text.

    Without a grid, which alone shows cases, a run with a case is like all others.
    """
    has_grid = any(isinstance(block, Grid) for block in article.blocks)
    return [shorten(str(run.constants[article.cases])) if article.cases and has_grid else "" for run in runs]


def label_article_runs(article: Article, runs: Sequence[RunFigures]) -> tuple[str, ...]:
    """Return the unique label of each run or phase of an article; in an article with groups, `GROUP: LABEL`."""
    names = [get_group_name(run.id) if article.groups else "" for run in runs]
    labels = dict[int, str]()
    for name in dict.fromkeys(names):
        indexes = [index for index, item in enumerate(names) if item == name]
        group_labels = label_group_runs(article, name, [runs[index] for index in indexes])
        labels |= zip(indexes, (f"{name}: {label}" if name else label for label in group_labels), strict=True)
    return tuple(labels[index] for index in range(len(runs)))


def label_group_runs(article: Article, group: str, runs: Sequence[RunFigures]) -> tuple[str, ...]:
    """Return the label of each run or phase of a group: the user's name, else its label constant.

    A label constant that is the label of another run, too, is replaced by the id. The group is left out of names.
    """
    group_runs = [_leave_out_group(run, group) for run in runs]
    labels = [shorten(label) for label in list_full_labels(article.label, group_runs)]
    return make_labels_unique(labels, group_runs, "{id}")


def name_run(article: Article, run: RunFigures) -> str:
    """Return the user's name of a run without its group, else its label constant."""
    group_run = _leave_out_group(run, get_group_name(run.id) if article.groups else "")
    return shorten(*list_full_labels(article.label, [group_run]))


def are_article_runs_renamed(article: Article, runs: Sequence[RunFigures]) -> bool:
    """Return whether the user calls a run otherwise than it calls itself."""
    names, own_names = [name_run(article, run) for run in runs], list_own_names(article.label, runs)
    return names != list(map(shorten, own_names))


def _leave_out_group(run: RunFigures, group: str) -> RunFigures:
    prefix = f"{group}:" if group else ""
    phase = run.phase and replace(run.phase, run=run.phase.run.removeprefix(prefix))
    return replace(run, id=run.id.removeprefix(prefix), phase=phase)
