"""Write all definitions of a workspace as a folder of linked pages (`assay catalogue`)."""

from __future__ import annotations

import hashlib
import json
import posixpath
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.app.audit.catalogue_pages import KINDS, iter_definition_pages
from assay.app.audit.explain import describe_subject
from assay.app.audit.explain_view import describe_headings
from assay.app.audit.site_templates import build_asset, create_environment, escape_invisible
from assay.app.compute.metric_sql import build_metric_query
from assay.app.compute.sql_files import add_header
from assay.app.compute.subject import MetricSubject, SeriesSubject, list_subjects
from assay.app.session.outputs import refuse_sources, replace_folder
from assay.app.session.session import Session
from assay.engine.compiled_plan import CompiledPlan
from assay.explain.facts import Facts
from assay.lang.checked_package import CheckedPackage
from assay.lang.model.package import Package
from assay.lang.workspace import Workspace
from assay.lineage.diagram import Picture, build_picture
from assay.lineage.metric_lineage import ROLES
from assay.lineage.tree import render_tree
from assay.report.run_results import add_unit
from assay.sql import dialect
from assay.util.bidi import isolate_page
from assay.util.diagnostics import AssayError, Span, fail
from assay.util.git import run_git

if TYPE_CHECKING:
    from jinja2 import Environment


#: Matches the `metrics` section of a normal form, whose lines are indented by at least two spaces.
_METRICS = re.compile(r"^  metrics:\n((?:(?:  [ -].*)?\n)*)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Change:
    """One change of a metric's definition.

    `day` and `commit` (short hash) are empty for changes that are not committed; `subject` is the subject of the
    commit. `definition` is the definition hash after the change, empty if the metric was removed.
    """

    day: str
    commit: str
    subject: str
    definition: str


@dataclass(frozen=True, slots=True)
class Histories:
    """The changes of each metric, latest first.

    `reason` says why there are no histories. `is_shallow` is set if the git clone is shallow, so that older changes may
    be missing.
    """

    changes: Mapping[str, tuple[Change, ...]]
    reason: str = ""
    is_shallow: bool = False


def read_histories(workspace: Workspace, checked: CheckedPackage) -> Histories:
    """Read the histories of a system's metrics from the revisions of its normal form in git."""
    root = workspace.root
    name = workspace.get_normal_form_path(checked.package.system).relative_to(root).as_posix()
    head = run_git(root, "rev-parse", "--is-shallow-repository", "--verify", "HEAD")
    if head is None:
        return Histories({}, "the workspace is not a git repository, or has no commits")
    fields = "--format=%H%x00%cs%x00%s"  # hash, day and subject of a commit
    log = run_git(root, "-c", "log.showSignature=false", "log", "--topo-order", "--reverse", fields, "--", name) or b""
    changes: dict[str, list[Change]] = {}
    for line in log.decode("utf-8", "replace").splitlines():
        commit, day, subject = line.split("\0", 2)
        definitions = dict(_parse_definitions(run_git(root, "show", f"{commit}:./{name}") or b""))
        _add_changes(changes, definitions, Change(day, commit[:10], subject, ""))
    if not changes:
        return Histories({}, f"git has no revision of {name}")
    _add_changes(changes, dict(checked.definitions), Change("", "", "not committed", ""))
    return Histories(
        {key: tuple(reversed(items)) for key, items in changes.items()}, is_shallow=head.startswith(b"true")
    )


def _add_changes(changes: dict[str, list[Change]], definitions: Mapping[str, str], state: Change) -> None:
    """Append to `changes` the definitions that differ from the previous state; `state` is the commit as a change.

    A state without definitions is skipped, since its normal form could not be read.
    """
    if not definitions:
        return
    for key in sorted({*changes, *definitions}):
        former_changes, definition = changes.get(key, []), definitions.get(key, "")
        if (former_changes[-1].definition if former_changes else "") != definition:
            changes.setdefault(key, []).append(Change(state.day, state.commit, state.subject, definition))


def _parse_definitions(text: bytes) -> Iterator[tuple[str, str]]:
    """Yield the id and definition hash of each metric in a normal form; nothing if the text cannot be read."""
    import yaml

    match = _METRICS.search(text.decode("utf-8", "replace"))
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        items = yaml.load("metrics:\n" + match[1], Loader=loader)["metrics"] if match else []
        for item in items:
            yield str(item["id"]), str(item["definition"])
    except (yaml.YAMLError, KeyError, TypeError):
        return


ENDING = ".document.json"


@dataclass(frozen=True, slots=True)
class PrintedValues:
    """The values that a golden report prints of one metric.

    `file` is the name of the report's file, `title` the title of the report, `section` the part of the report, `label`
    the row. Each of `values` is a pair of a column heading (or row label) and a printed value. `is_current` is set if
    the report used the current definition.
    """

    file: str
    title: str
    section: str
    label: str
    values: tuple[tuple[str, str], ...]
    is_current: bool


def read_golden_documents(root: Path) -> dict[str, dict[str, Any]]:
    """Return the golden reports of a workspace: file name -> content.

    Raises AssayError: `golden-report` for a file that is not a report.
    """
    documents = {}
    for path in sorted((root / "golden" / "reports").glob(f"*{ENDING}")):
        try:
            content = json.loads(path.read_text(encoding="utf-8"))
            _ = [entry["id"] for group in content["dictionary"] for entry in group["entries"]]
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise fail("golden-report", f"the golden report cannot be read: {error}", span=Span(str(path))) from None
        documents[path.name.removesuffix(ENDING)] = content
    return documents


def collect_printed_values(
    documents: Mapping[str, Mapping[str, Any]], systems: Sequence[CheckedPackage]
) -> dict[tuple[str, str], list[PrintedValues]]:
    """Return what golden reports print of each metric, by (system, metric).

    A report is assigned to the system that defines most of the metrics in its dictionary.
    """
    printed_values: dict[tuple[str, str], list[PrintedValues]] = {}
    for file, document in documents.items():
        entries = {entry["id"]: entry for group in document["dictionary"] for entry in group["entries"]}
        checked = max(systems, key=lambda item: count_entries(item, entries), default=None)
        if checked is None or count_entries(checked, entries) == (0, 0):
            continue
        for metric, section, label, values in _iter_printed_rows(document, entries):
            if values:
                is_current = entries.get(metric, {}).get("definition") == checked.definitions.get(metric)
                row = PrintedValues(file, str(document["title"]), section, label, values, is_current)
                printed_values.setdefault((checked.package.system, metric), []).append(row)
    return printed_values


def count_entries(checked: CheckedPackage, entries: Mapping[str, Mapping[str, str]]) -> tuple[int, int]:
    """Count the entries of a dictionary whose definition a system has, and those whose id it has."""
    same_count = sum(item.get("definition") == checked.definitions.get(key, 0) for key, item in entries.items())
    return same_count, sum(key in checked.definitions for key in entries)


Values = tuple[tuple[str, str], ...]


def _iter_printed_rows(
    document: Mapping[str, Any], entries: Mapping[str, Any]
) -> Iterator[tuple[str, str, str, Values]]:
    """Yield metric, section title, label and values of each printed row or column of a metric.

    Rows and columns of tables that name no metrics are recognized by their label, if only one metric has it.
    """
    labels: dict[str, list[str]] = {}
    for key, entry in entries.items():
        labels.setdefault(add_unit(entry["name"], entry["unit"]), []).append(key)
    metrics_by_label = {label: keys[0] for label, keys in labels.items() if len(keys) == 1}
    for part in document.get("parts", ()):  # documents of earlier versions have none
        for table in part["tables"]:
            title = " / ".join(dict.fromkeys(filter(None, (part["title"], table["title"]))))
            if "metrics" in table:
                for metric, row in zip(table["metrics"], table["rows"], strict=False):
                    yield metric, title, row[0], tuple(zip(table["header"][1:], row[1:], strict=True))
                continue
            for row in table["rows"]:
                if row[0] in metrics_by_label:
                    yield metrics_by_label[row[0]], title, row[0], tuple(zip(table["header"][1:], row[1:], strict=True))
            for column, label in enumerate(table["header"][1:], start=1):
                if label in metrics_by_label:
                    yield metrics_by_label[label], title, label, tuple((row[0], row[column]) for row in table["rows"])


_SAFE_NAME = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9_.+-]{0,99}")
#: A name after these words is a column, even if a table has the same name.
_COLUMN_PREFIXES = ("same ", "its ", "whose ", "for each ")
_MARKED_NAME = re.compile(r"`([^`\n]+)`|\*([^*\s]+)\*")


@dataclass(frozen=True, slots=True)
class Page:
    """A page: its key (system, kind, name), the label and text for links to it, its template and content."""

    system: str
    kind: str
    name: str
    label: str
    doc: str
    template: str
    content: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Site:
    """The pages of one or more systems; `files` are the paths of their files in the site, by key."""

    packages: tuple[Package, ...]
    pages: tuple[Page, ...]
    files: dict[tuple[str, str, str], str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.files.update(_assign_files(self.pages))

    def get_page_address(self, start: str, system: str, kind: str, name: str) -> str:
        """Return the relative address of a page from the file `start`; empty if there is no such page."""
        target = self.files.get((system, kind, name))
        return posixpath.relpath(target, posixpath.dirname(start) or ".") if target else ""


def _assign_files(pages: tuple[Page, ...]) -> dict[tuple[str, str, str], str]:
    """Return the path of each page's file by its key.

    The file is named after the page. A hash is added if the name is not a safe file name, or if another name differs
    from it only in case.
    """
    name_counts = Counter((page.system, page.kind, page.name.lower()) for page in pages)
    files = {}
    for page in pages:
        is_plain = _SAFE_NAME.fullmatch(page.name) and name_counts[page.system, page.kind, page.name.lower()] == 1
        stem = page.name if is_plain else f"{re.sub('[^A-Za-z0-9_-]', '_', page.name)[:60]}-{_hash(page.name)}"
        files[page.system, page.kind, page.name] = f"pages/{_get_folder_name(page.system)}/{page.kind}/{stem}.html"
    return files


def _get_folder_name(system: str) -> str:
    return system if _SAFE_NAME.fullmatch(system) else f"system-{_hash(system)}"


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:8]


def write_site(site: Site, folder: Path) -> None:
    """Write the site into an empty folder."""
    (folder / "assets").mkdir()
    for name in ("catalogue.css", "catalogue.js"):
        (folder / "assets" / name).write_text(build_asset(name), encoding="utf-8")
    environment = create_environment()
    systems = [package.system for package in site.packages]
    shared_content = {"site": site, "kinds": KINDS, "systems": systems, "system_file": _get_system_file}
    _render(environment, "index.html.j2", folder, "index.html", shared_content)
    for package in site.packages:
        content = {**shared_content, "package": package, "system": package.system}
        _render(environment, "system.html.j2", folder, _get_system_file(package.system), content)
    packages = {package.system: package for package in site.packages}
    for page in site.pages:
        file = site.files[page.system, page.kind, page.name]
        content = {
            **shared_content,
            **page.content,
            "page": page,
            "package": packages[page.system],
            "system": page.system,
        }
        _render(environment, page.template, folder, file, content)


def _get_system_file(system: str) -> str:
    return f"pages/{_get_folder_name(system)}/index.html"


def _render(environment: Environment, template: str, folder: Path, file: str, content: Mapping[str, Any]) -> None:
    """Render a page with a template into the file `file` of the site in `folder`."""
    path = folder / file
    path.parent.mkdir(parents=True, exist_ok=True)
    site: Site = content["site"]

    def get_relative_address(target: str) -> str:
        return posixpath.relpath(target, posixpath.dirname(file) or ".")

    def find_address(kind: str, name: str, system: str = "") -> str:
        return site.get_page_address(file, system or content["system"], kind, name)

    def render_marked(text: str) -> Any:
        return _render_marked_text(text, find_address)

    text = environment.get_template(template).render(
        **content, to=get_relative_address, link=find_address, marked=render_marked
    )
    path.write_text(isolate_page(text) + "\n", encoding="utf-8")


def _render_marked_text(text: str, find_address: Any) -> Any:
    """Render a text of the specs as HTML.

    Names in backquotes become code and link to their pages; instants in asterisks are emphasized.
    """
    from markupsafe import Markup, escape

    parts, end = [], 0
    for match in _MARKED_NAME.finditer(text):
        parts.append(escape(escape_invisible(text[end : match.start()])))
        end = match.end()
        if match[2]:
            parts.append(Markup("<em>{}</em>").format(escape_invisible(match[2])))
            continue
        is_column = text[: match.start()].endswith(_COLUMN_PREFIXES)
        addresses = (find_address(kind, match[1]) for kind in KINDS if kind != "reports")
        href = "" if is_column else next(filter(None, addresses), "")
        code = Markup("<code>{}</code>").format(escape_invisible(match[1]))
        parts.append(Markup('<a href="{}">{}</a>').format(href, code) if href else code)
    return Markup("").join([*parts, escape(escape_invisible(text[end:]))])


TREE_WIDTH = 140  # columns per line of the lineage tree


@dataclass(frozen=True, slots=True)
class Entry:
    """The content of the page of a metric or series.

    `no_sql` says why there is no SQL. `direct` and `whole` are diagrams of the lineage: of the values alone, or of
    everything that decides on them; `tree` is the lineage as text.
    """

    facts: Facts
    symbol: str
    headings: tuple[tuple[str, tuple[str, ...]], ...]
    sql: str
    no_sql: str
    direct: Picture
    whole: Picture
    tree: str
    history: Histories
    printed: tuple[PrintedValues, ...]


def write_catalogue(session: Session, out: Path, system: str | None = None) -> Path:
    """Write the catalogue of a workspace, or of one system, into the folder `out`; return the path of its first page.

    Raises AssayError: errors of the specs; `output` if the folder cannot be written, or has other files.
    """
    refuse_sources(session, out, former_file="index.html")
    names = session.list_systems(system)
    packages = [session.load_package(name) for name in session.workspace.list_systems()]
    values = collect_printed_values(read_golden_documents(session.workspace.root), packages)
    pages: list[Page] = []
    checked_packages = [session.load_package(name) for name in names]
    for checked in checked_packages:
        pages += _create_pages(session, checked, values)
    with replace_folder(out, session.get_wait_notice(out)) as new_folder:
        write_site(Site(tuple(checked.package for checked in checked_packages), tuple(pages)), new_folder)
    return out / "index.html"


def _create_pages(
    session: Session, checked: CheckedPackage, values: Mapping[tuple[str, str], Sequence[PrintedValues]]
) -> list[Page]:
    """Return the pages of a system; `values` are the values that golden reports print, by system and metric."""
    system, history = checked.package.system, read_histories(session.workspace, checked)
    subjects = list_subjects(checked)
    pages, facts = [], {}
    for done, subject in enumerate(subjects):
        session.progress(f"catalogue of {system}", done, len(subjects))
        entry = _create_entry(subject, history, values.get((system, subject.id), ()))
        kind = "series" if isinstance(subject, SeriesSubject) else "metrics"
        facts[kind, subject.id] = entry.facts
        content = {"entry": entry, "item": subject.item}
        pages.append(Page(system, kind, subject.id, entry.facts.label, subject.item.doc, "metric.html.j2", content))
    for item in iter_definition_pages(checked, facts):
        pages.append(Page(system, item.kind, item.name, item.title, item.doc, "thing.html.j2", {"thing": item}))
    return pages


def _create_entry(subject: MetricSubject | SeriesSubject, history: Histories, values: Sequence[PrintedValues]) -> Entry:
    package = subject.checked.package
    applied_filters = subject.select_filters((), False) if subject.metrics else ()
    compiled_plan = subject.compile(applied_filters)
    explanation, lineage_result = describe_subject(subject, subject.report, applied_filters, compiled_plan)
    sql, no_sql = _format_sql(subject, compiled_plan)
    cells = lineage_result.cells
    return Entry(
        explanation.facts,
        subject.unit.symbol,
        tuple((head, tuple(texts)) for head, texts in describe_headings(explanation) if texts),
        sql,
        no_sql,
        build_picture(lineage_result.column_lineage, package, cells),
        build_picture(lineage_result.column_lineage, package, cells, ROLES),
        "\n".join(
            render_tree(
                lineage_result.column_lineage, package, lineage_result.titles, lineage_result.filterable, TREE_WIDTH
            )
        ),
        history,
        tuple(values),
    )


def _format_sql(subject: MetricSubject | SeriesSubject, compiled_plan: CompiledPlan) -> tuple[str, str]:
    """Return the SQL of a metric as one statement, or the reason why there is none."""
    if isinstance(subject, SeriesSubject):
        return "", "There is no single statement that computes a series."
    checked, metric = subject.checked, subject.metric
    try:
        text = dialect.to_sql(build_metric_query(checked, metric, subject.report, compiled_plan.statements)) + ";"
        return add_header(checked, metric, text), ""
    except AssayError as error:
        return "", error.diagnostics[0].message
