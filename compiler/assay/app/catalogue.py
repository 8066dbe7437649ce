"""Write all definitions of a workspace as a folder of linked pages (`assay catalogue`)."""

from __future__ import annotations

import hashlib
import json
import posixpath
import re
import shutil
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.app.catalogue_things import KINDS, things
from assay.app.check_and_query import all_systems, standing_alone
from assay.app.diff import git
from assay.app.explain import describe
from assay.app.explain_view import describe_headings
from assay.app.outputs import refuse_sources, replacing
from assay.app.session import Session
from assay.app.sql_files import headed
from assay.app.subject import MetricSubject, SeriesSubject, list_subjects
from assay.engine.compiled_plan import CompiledPlan
from assay.explain.facts import Facts
from assay.lang.checked_package import CheckedPackage
from assay.lang.model.package import Package
from assay.lang.workspace import Workspace, shipped
from assay.lineage.diagram import Picture, picture
from assay.lineage.metric_lineage import ROLES
from assay.lineage.tree import tree
from assay.provenance.read import NAME
from assay.report.render.html import font_faces
from assay.report.run_results import row_label
from assay.sql import dialect
from assay.util.diagnostics import USAGE, AssayError, Span, fail
from assay.util.escape import escape_text

if TYPE_CHECKING:
    from jinja2 import Environment


#: Matches the `metrics` section of a normal form: no line of the section is indented less.
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

    `none` says why there are no histories. `cut` is set if the git clone is shallow, so that older changes may be
    missing.
    """

    changes: Mapping[str, tuple[Change, ...]]
    none: str = ""
    cut: bool = False


def histories(workspace: Workspace, checked: CheckedPackage) -> Histories:
    """Return the histories of a system's metrics that git has recorded."""
    root, place = workspace.root, workspace.normal_form(checked.package.system)
    name = place.relative_to(root).as_posix()
    head = git(root, "rev-parse", "--is-shallow-repository", "--verify", "HEAD")
    if head is None:
        return Histories({}, "the workspace is no git repository with a commit")
    form = "--format=%H%x00%cs%x00%s"
    log = git(root, "-c", "log.showSignature=false", "log", "--topo-order", "--reverse", form, "--", name) or b""
    changes: dict[str, list[Change]] = {}
    for line in log.decode("utf-8", "replace").splitlines():
        commit, day, subject = line.split("\0", 2)
        definitions = dict(_definitions(git(root, "show", f"{commit}:./{name}") or b""))
        _add_changes(changes, definitions, Change(day, commit[:10], subject, ""))
    if not changes:
        return Histories({}, f"git has no revision of {name}")
    _add_changes(changes, dict(checked.definitions), Change("", "", "not committed", ""))
    return Histories({key: tuple(reversed(items)) for key, items in changes.items()}, cut=head.startswith(b"true"))


def _add_changes(changes: dict[str, list[Change]], definitions: Mapping[str, str], at: Change) -> None:
    """Record which definitions a state of the specs changed.

    A state without any metric could not be read and is skipped.
    """
    if not definitions:
        return
    for key in sorted({*changes, *definitions}):
        before, now = changes.get(key, []), definitions.get(key, "")
        if (before[-1].definition if before else "") != now:
            changes.setdefault(key, []).append(Change(at.day, at.commit, at.subject, now))


def _definitions(text: bytes) -> Iterator[tuple[str, str]]:
    """Yield the id and definition hash of each metric in a normal form; nothing if the text is not one."""
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
class Printed:
    """The values that a golden report prints of one metric.

    `file` names the report's file, `section` the part of the report, `label` the row. Each of `values` is a pair of a
    column heading (or row label) and a printed value. `current` is set if the report used the definition that is valid
    now.
    """

    file: str
    title: str
    section: str
    label: str
    values: tuple[tuple[str, str], ...]
    current: bool


def golden_documents(root: Path) -> dict[str, dict[str, Any]]:
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


def printed(
    documents: Mapping[str, Mapping[str, Any]], systems: Sequence[CheckedPackage]
) -> dict[tuple[str, str], list[Printed]]:
    """Return what golden reports print of each metric, by (system, metric).

    A report is attributed to the system that knows most of the metrics in its dictionary, by id and definition.
    """
    printed_values: dict[tuple[str, str], list[Printed]] = {}
    for file, document in documents.items():
        entries = {entry["id"]: entry for group in document["dictionary"] for entry in group["entries"]}
        checked = max(systems, key=lambda item: count_entries(item, entries), default=None)
        if checked is None or count_entries(checked, entries) == (0, 0):
            continue
        for metric, section, label, values in _values(document, entries):
            if values:
                current = entries.get(metric, {}).get("definition") == checked.definitions.get(metric)
                row = Printed(file, str(document["title"]), section, label, values, current)
                printed_values.setdefault((checked.package.system, metric), []).append(row)
    return printed_values


def count_entries(checked: CheckedPackage, entries: Mapping[str, Mapping[str, str]]) -> tuple[int, int]:
    """Count the entries of a dictionary that a system defines identically, and those whose id it knows."""
    same = sum(item.get("definition") == checked.definitions.get(key, 0) for key, item in entries.items())
    return same, sum(key in checked.definitions for key in entries)


Values = tuple[tuple[str, str], ...]


def _values(document: Mapping[str, Any], entries: Mapping[str, Any]) -> Iterator[tuple[str, str, str, Values]]:
    """Yield metric, section title, label and values of each printed row or column of a metric.

    Tables of a gallery count if a label belongs to exactly one metric.
    """
    for section in document["sections"]:
        for metric, row in zip(section["metrics"], section["rows"], strict=False):
            yield metric, section["title"], row[0], tuple(zip(section["header"][1:], row[1:], strict=True))
    labels: dict[str, list[str]] = {}
    for key, entry in entries.items():
        labels.setdefault(row_label(entry["name"], entry["unit"]), []).append(key)
    unique = {label: keys[0] for label, keys in labels.items() if len(keys) == 1}
    for gallery in document.get("galleries", ()):
        for table in gallery["tables"]:
            title = " / ".join(filter(None, (gallery.get("title", ""), table["title"])))
            for row in table["rows"]:
                if row[0] in unique:
                    yield unique[row[0]], title, row[0], tuple(zip(table["header"][1:], row[1:], strict=True))
            for column, label in enumerate(table["header"][1:], start=1):
                if label in unique:
                    yield unique[label], title, label, tuple((row[0], row[column]) for row in table["rows"])


#: The folder of the catalogue's templates, next to the shipped specs.
TEMPLATES = "site"
_SAFE = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9_.+-]{0,99}")
#: A name after these words is a column, even if a table has the same name.
_COLUMNS = ("same ", "its ", "whose ", "for each ")
_MARKED = re.compile(r"`([^`\n]+)`|\*([^*\s]+)\*")


@dataclass(frozen=True, slots=True)
class Page:
    """A page: its key (system, kind, name), the label and text that links to it print, its template and content."""

    system: str
    kind: str
    name: str
    label: str
    doc: str
    template: str
    content: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Site:
    """All pages of one or more systems."""

    packages: tuple[Package, ...]
    pages: tuple[Page, ...]
    files: dict[tuple[str, str, str], str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.files.update(_files(self.pages))

    def href(self, start: str, system: str, kind: str, name: str) -> str:
        """Return the relative address of a page from the file `start`; empty if there is no such page."""
        target = self.files.get((system, kind, name))
        return posixpath.relpath(target, posixpath.dirname(start) or ".") if target else ""


def _files(pages: tuple[Page, ...]) -> dict[tuple[str, str, str], str]:
    """Return the file of each page by its key.

    The file is named after the page. A hash is added if the name cannot be a file name, or differs from another only in
    case.
    """
    same = Counter((page.system, page.kind, page.name.lower()) for page in pages)
    files = {}
    for page in pages:
        is_plain = _SAFE.fullmatch(page.name) and same[page.system, page.kind, page.name.lower()] == 1
        stem = page.name if is_plain else f"{re.sub('[^A-Za-z0-9_-]', '_', page.name)[:60]}-{_hash(page.name)}"
        files[page.system, page.kind, page.name] = f"pages/{_folder(page.system)}/{page.kind}/{stem}.html"
    return files


def _folder(system: str) -> str:
    return system if _SAFE.fullmatch(system) else f"system-{_hash(system)}"


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:8]


def write(site: Site, folder: Path) -> None:
    """Write the site into an empty folder."""
    root = shipped().root
    site_files, styles = root / TEMPLATES, root / "templates"
    (folder / "assets").mkdir()
    style = (styles / "html" / "report.css").read_text(encoding="utf-8").replace("/* fonts */", font_faces(styles))
    (folder / "assets" / "catalogue.css").write_text(
        style + (site_files / "catalogue.css").read_text(encoding="utf-8"), encoding="utf-8"
    )
    shutil.copyfile(site_files / "catalogue.js", folder / "assets" / "catalogue.js")
    environment = _environment(site_files)
    systems = [package.system for package in site.packages]
    common = {"site": site, "kinds": KINDS, "systems": systems, "system_file": _system_file}
    _render(environment, "index.html.j2", folder, "index.html", common)
    for package in site.packages:
        file = _system_file(package.system)
        _render(environment, "system.html.j2", folder, file, {**common, "package": package, "system": package.system})
    packages = {package.system: package for package in site.packages}
    for page in site.pages:
        file = site.files[page.system, page.kind, page.name]
        content = {**common, **page.content, "page": page, "package": packages[page.system], "system": page.system}
        _render(environment, page.template, folder, file, content)


def _system_file(system: str) -> str:
    return f"pages/{_folder(system)}/index.html"


def _render(environment: Environment, template: str, folder: Path, file: str, content: Mapping[str, Any]) -> None:
    place = folder / file
    place.parent.mkdir(parents=True, exist_ok=True)
    site: Site = content["site"]

    def to(target: str) -> str:
        return posixpath.relpath(target, posixpath.dirname(file) or ".")

    def link(kind: str, name: str, system: str = "") -> str:
        return site.href(file, system or content["system"], kind, name)

    def marked(text: str) -> Any:
        return _marked(text, link)

    text = environment.get_template(template).render(**content, to=to, link=link, marked=marked)
    place.write_text(text + "\n", encoding="utf-8")


def _marked(text: str, link: Any) -> Any:
    """Render a text of the specs as HTML.

    Names in backquotes become code and link to their pages; instants in asterisks are emphasized.
    """
    from markupsafe import Markup, escape

    parts, end = [], 0
    for match in _MARKED.finditer(text):
        parts.append(escape(_seen(text[end : match.start()])))
        end = match.end()
        if match[2]:
            parts.append(Markup("<em>{}</em>").format(_seen(match[2])))
            continue
        is_column = text[: match.start()].endswith(_COLUMNS)
        href = (
            ""
            if is_column
            else next((link(kind, match[1]) for kind in KINDS if kind != "reports" and link(kind, match[1])), "")
        )
        code = Markup("<code>{}</code>").format(_seen(match[1]))
        parts.append(Markup('<a href="{}">{}</a>').format(href, code) if href else code)
    return Markup("").join([*parts, escape(_seen(text[end:]))])


def _seen(text: str) -> str:
    """Escape invisible characters of a text, except line feeds and tabs."""
    return "\n".join("\t".join(map(escape_text, line.split("\t"))) for line in text.split("\n"))


def _environment(folder: Path) -> Environment:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined  # slow to import
    from markupsafe import Markup

    def finalize(value: Any) -> Any:
        return _seen(value) if isinstance(value, str) and not isinstance(value, Markup) else value

    return Environment(
        loader=FileSystemLoader(folder),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=finalize,
    )


TREE = 140  # columns per line of the lineage tree


@dataclass(frozen=True, slots=True)
class Entry:
    """The content of the page of a metric or series."""

    facts: Facts
    symbol: str
    said: tuple[tuple[str, tuple[str, ...]], ...]
    sql: str
    no_sql: str
    direct: Picture
    whole: Picture
    tree: str
    history: Histories
    printed: tuple[Printed, ...]


def catalogue(session: Session, out: Path, system: str | None = None) -> Path:
    """Write the catalogue of a workspace, or of one system, into a folder; return its first page.

    Raises AssayError: errors of the specs; `output` if the folder cannot be written, or holds a built report or a run.
    """
    refuse_sources(session, out)
    if (out / NAME).is_file():
        raise fail("output", f"the folder holds a built report: {out}", hint="choose another folder with -o")
    names = all_systems(session, system)
    packages = [session.package(name) for name in session.workspace.systems()]
    _refuse_run(out, packages)
    values = printed(golden_documents(session.workspace.root), packages)
    pages: list[Page] = []
    checked_packages = [session.package(name) for name in names]
    for checked in checked_packages:
        pages += _pages(session, checked, values)
    with replacing(out, session.waits_for(out)) as fresh:
        write(Site(tuple(checked.package for checked in checked_packages), tuple(pages)), fresh)
    return out / "index.html"


def _refuse_run(out: Path, packages: Sequence[CheckedPackage]) -> None:
    """Raise AssayError `output` (usage) if the folder holds documents of a run.

    Otherwise the folders of pages would be taken for hosts of that run.
    """
    constants = (item for checked in packages for source in checked.package.sources for item in source.constants)
    for name in dict.fromkeys(name for item in constants for name in item.files):
        if (out / name).is_file():
            hint = "choose another folder with -o"
            raise fail("output", f"the output folder is a run, it holds {name}: {out}", hint=hint, status=USAGE)


def _pages(
    session: Session, checked: CheckedPackage, values: Mapping[tuple[str, str], Sequence[Printed]]
) -> list[Page]:
    package = checked.package
    system, history = package.system, histories(session.workspace, checked)
    subjects = list_subjects(checked)
    pages, facts = [], {}
    for done, subject in enumerate(subjects):
        session.progress(f"catalogue of {system}", done, len(subjects))
        entry = _entry(subject, history, values.get((system, subject.id), ()))
        kind = "series" if isinstance(subject, SeriesSubject) else "metrics"
        facts[kind, subject.id] = entry.facts
        content = {"entry": entry, "item": subject.item}
        pages.append(Page(system, kind, subject.id, entry.facts.label, subject.item.doc, "metric.html.j2", content))
    for thing in things(checked, facts):
        pages.append(Page(system, thing.kind, thing.name, thing.title, thing.doc, "thing.html.j2", {"thing": thing}))
    return pages


def _entry(subject: MetricSubject | SeriesSubject, history: Histories, values: Sequence[Printed]) -> Entry:
    package = subject.checked.package
    applied = subject.select_filters((), False) if subject.metrics else ()
    compiled = subject.compile(applied)
    explained, traced = describe(subject, subject.report, applied, compiled)
    sql, no_sql = _sql(subject, compiled)
    cells = traced.cells
    return Entry(
        explained.facts,
        subject.unit.symbol,
        tuple((head, tuple(texts)) for head, texts in describe_headings(explained) if texts),
        sql,
        no_sql,
        picture(traced.found, package, cells),
        picture(traced.found, package, cells, ROLES),
        "\n".join(tree(traced.found, package, traced.titles, traced.filterable, TREE)),
        history,
        tuple(values),
    )


def _sql(subject: MetricSubject | SeriesSubject, compiled: CompiledPlan) -> tuple[str, str]:
    """Return the SQL of a metric as one statement, or the reason why there is none."""
    if isinstance(subject, SeriesSubject):
        return "", "A series is worked out beside the samples that it reads; it has no statement that stands alone."
    checked, metric = subject.checked, subject.metric
    try:
        text = dialect.text(standing_alone(checked, metric, subject.report, compiled.statements)) + ";"
        return headed(checked, metric, text), ""
    except AssayError as error:
        return "", error.diagnostics[0].message
