"""`assay catalogue`: all definitions as a folder of linked pages."""

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
from assay.lang.model.package import Package
from assay.lang.normal_form import CheckedPackage
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


#: the metrics of a normal form; no line within is indented less
_METRICS = re.compile(r"^  metrics:\n((?:(?:  [ -].*)?\n)*)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Change:
    """A change of a definition: day and short commit (both empty: not committed), subject of the commit, the hash
    from then on (empty: the metric is gone)."""

    day: str
    commit: str
    subject: str
    definition: str


@dataclass(frozen=True, slots=True)
class Histories:
    """Of each metric its changes, the latest first; `none` says why there are none."""

    changes: Mapping[str, tuple[Change, ...]]
    none: str = ""
    cut: bool = False


def histories(workspace: Workspace, checked: CheckedPackage) -> Histories:
    """The histories of a system's metrics, as far as git knows them."""
    root, place = workspace.root, workspace.normal_form(checked.package.system)
    name = place.relative_to(root).as_posix()
    head = git(root, "rev-parse", "--is-shallow-repository", "--verify", "HEAD")
    if head is None:
        return Histories({}, "the workspace is no git repository with a commit")
    form = "--format=%H%x00%cs%x00%s"
    told = git(root, "-c", "log.showSignature=false", "log", "--topo-order", "--reverse", form, "--", name) or b""
    found: dict[str, list[Change]] = {}
    for line in told.decode("utf-8", "replace").splitlines():
        commit, day, subject = line.split("\0", 2)
        held = dict(_definitions(git(root, "show", f"{commit}:./{name}") or b""))
        _add(found, held, Change(day, commit[:10], subject, ""))
    if not found:
        return Histories({}, f"git has no revision of {name}")
    _add(found, dict(checked.definitions), Change("", "", "not committed", ""))
    return Histories({key: tuple(reversed(items)) for key, items in found.items()}, cut=head.startswith(b"true"))


def _add(found: dict[str, list[Change]], held: Mapping[str, str], at: Change) -> None:
    """Note what a state of the specs changed; a state without any metric is one that cannot be read."""
    if not held:
        return
    for key in sorted({*found, *held}):
        before, now = found.get(key, []), held.get(key, "")
        if (before[-1].definition if before else "") != now:
            found.setdefault(key, []).append(Change(at.day, at.commit, at.subject, now))


def _definitions(text: bytes) -> Iterator[tuple[str, str]]:
    """Metric and definition hash of a normal form; nothing of one that is not of this form."""
    import yaml

    part = _METRICS.search(text.decode("utf-8", "replace"))
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        items = yaml.load("metrics:\n" + part[1], Loader=loader)["metrics"] if part else []
        for item in items:
            yield str(item["id"]), str(item["definition"])
    except (yaml.YAMLError, KeyError, TypeError):
        return


ENDING = ".document.json"


@dataclass(frozen=True, slots=True)
class Printed:
    """What a golden report prints of a metric: name of the report's file, its title, the part, the label; the printed
    values, each with the heading of its column (or row); whether it was of the definition that holds now."""

    file: str
    title: str
    section: str
    label: str
    values: tuple[tuple[str, str], ...]
    current: bool


def golden_documents(root: Path) -> dict[str, dict[str, Any]]:
    """File name -> content of the golden reports of a workspace.  AssayError `golden-report` for one that is none."""
    found = {}
    for place in sorted((root / "golden" / "reports").glob(f"*{ENDING}")):
        try:
            content = json.loads(place.read_text(encoding="utf-8"))
            _ = [entry["id"] for group in content["dictionary"] for entry in group["entries"]]
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise fail("golden-report", f"the golden report cannot be read: {error}", span=Span(str(place))) from None
        found[place.name.removesuffix(ENDING)] = content
    return found


def printed(
    documents: Mapping[str, Mapping[str, Any]], systems: Sequence[CheckedPackage]
) -> dict[tuple[str, str], list[Printed]]:
    """(system, metric) -> what golden reports print of it.

    A report is of the system that knows the most of the metrics in its dictionary, by id and definition."""
    found: dict[tuple[str, str], list[Printed]] = {}
    for file, document in documents.items():
        entries = {entry["id"]: entry for group in document["dictionary"] for entry in group["entries"]}
        checked = max(systems, key=lambda item: count_entries(item, entries), default=None)
        if checked is None or count_entries(checked, entries) == (0, 0):
            continue
        for metric, section, label, values in _values(document, entries):
            if values:
                current = entries.get(metric, {}).get("definition") == checked.definitions.get(metric)
                row = Printed(file, str(document["title"]), section, label, values, current)
                found.setdefault((checked.package.system, metric), []).append(row)
    return found


def count_entries(checked: CheckedPackage, entries: Mapping[str, Mapping[str, str]]) -> tuple[int, int]:
    same = sum(item.get("definition") == checked.definitions.get(key, 0) for key, item in entries.items())
    return same, sum(key in checked.definitions for key in entries)


Values = tuple[tuple[str, str], ...]


def _values(document: Mapping[str, Any], entries: Mapping[str, Any]) -> Iterator[tuple[str, str, str, Values]]:
    """Metric, part, label and values, of tables of metrics and of tables whose labels are those of one metric."""
    for section in document["sections"]:
        for metric, row in zip(section["metrics"], section["rows"], strict=False):
            yield metric, section["title"], row[0], tuple(zip(section["header"][1:], row[1:], strict=True))
    labels: dict[str, list[str]] = {}
    for key, entry in entries.items():
        labels.setdefault(row_label(entry["name"], entry["unit"]), []).append(key)
    alone = {label: keys[0] for label, keys in labels.items() if len(keys) == 1}
    for gallery in document.get("galleries", ()):
        for table in gallery["tables"]:
            title = " / ".join(filter(None, (gallery.get("title", ""), table["title"])))
            for row in table["rows"]:
                if row[0] in alone:
                    yield alone[row[0]], title, row[0], tuple(zip(table["header"][1:], row[1:], strict=True))
            for column, label in enumerate(table["header"][1:], start=1):
                if label in alone:
                    yield alone[label], title, label, tuple((row[0], row[column]) for row in table["rows"])


#: folder of the catalogue's templates beside the shipped specs
TEMPLATES = "site"
_SAFE = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9_.+-]{0,99}")
#: what stands before the name of a column, which may be that of a table, too
_COLUMNS = ("same ", "its ", "whose ", "for each ")
_MARKED = re.compile(r"`([^`\n]+)`|\*([^*\s]+)\*")


@dataclass(frozen=True, slots=True)
class Page:
    """A page: what it is of (its system, kind and name), what others say of it, its template and what that shows."""

    system: str
    kind: str
    name: str
    label: str
    doc: str
    template: str
    content: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Site:
    """All pages of some systems."""

    packages: tuple[Package, ...]
    pages: tuple[Page, ...]
    files: dict[tuple[str, str, str], str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.files.update(_files(self.pages))

    def href(self, start: str, system: str, kind: str, name: str) -> str:
        """The address of a page from a file of the site; empty where there is none."""
        target = self.files.get((system, kind, name))
        return posixpath.relpath(target, posixpath.dirname(start) or ".") if target else ""


def _files(pages: tuple[Page, ...]) -> dict[tuple[str, str, str], str]:
    """Where each page stands: by its name, with a hash where that cannot name a file, or two differ by case alone."""
    same = Counter((page.system, page.kind, page.name.lower()) for page in pages)
    found = {}
    for page in pages:
        plain = _SAFE.fullmatch(page.name) and same[page.system, page.kind, page.name.lower()] == 1
        word = page.name if plain else f"{re.sub('[^A-Za-z0-9_-]', '_', page.name)[:60]}-{_hash(page.name)}"
        found[page.system, page.kind, page.name] = f"pages/{_folder(page.system)}/{page.kind}/{word}.html"
    return found


def _folder(system: str) -> str:
    return system if _SAFE.fullmatch(system) else f"system-{_hash(system)}"


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:8]


def write(site: Site, folder: Path) -> None:
    """Write the site into an empty folder."""
    root = shipped().root
    own, styles = root / TEMPLATES, root / "templates"
    (folder / "assets").mkdir()
    style = (styles / "html" / "report.css").read_text(encoding="utf-8").replace("/* fonts */", font_faces(styles))
    (folder / "assets" / "catalogue.css").write_text(
        style + (own / "catalogue.css").read_text(encoding="utf-8"), encoding="utf-8"
    )
    shutil.copyfile(own / "catalogue.js", folder / "assets" / "catalogue.js")
    environment = _environment(own)
    systems = [package.system for package in site.packages]
    common = {"site": site, "kinds": KINDS, "systems": systems, "system_file": _system_file}
    _render(environment, "index.html.j2", folder, "index.html", common)
    for package in site.packages:
        place = _system_file(package.system)
        _render(environment, "system.html.j2", folder, place, {**common, "package": package, "system": package.system})
    packages = {package.system: package for package in site.packages}
    for page in site.pages:
        place = site.files[page.system, page.kind, page.name]
        content = {**common, **page.content, "page": page, "package": packages[page.system], "system": page.system}
        _render(environment, page.template, folder, place, content)


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
    """A text of the specs as HTML: names between backquotes are code, and lead to their pages; instants are set off."""
    from markupsafe import Markup, escape

    parts, end = [], 0
    for found in _MARKED.finditer(text):
        parts.append(escape(_seen(text[end : found.start()])))
        end = found.end()
        if found[2]:
            parts.append(Markup("<em>{}</em>").format(_seen(found[2])))
            continue
        column = text[: found.start()].endswith(_COLUMNS)
        href = (
            ""
            if column
            else next((link(kind, found[1]) for kind in KINDS if kind != "reports" and link(kind, found[1])), "")
        )
        code = Markup("<code>{}</code>").format(_seen(found[1]))
        parts.append(Markup('<a href="{}">{}</a>').format(href, code) if href else code)
    return Markup("").join([*parts, escape(_seen(text[end:]))])


def _seen(text: str) -> str:
    """A text in which nothing is hidden; line feeds and tabs stay."""
    return "\n".join("\t".join(map(escape_text, line.split("\t"))) for line in text.split("\n"))


def _environment(folder: Path) -> Environment:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined  # slow to import, and only a page needs it
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


TREE = 140  # columns of a line of the lineage as text


@dataclass(frozen=True, slots=True)
class Entry:
    """All that the page of a metric or series shows."""

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
    """Write the catalogue of a workspace, or of one system of it, into a folder; returns its first page.

    Raises AssayError: those of specs, `output` when the folder cannot be written, or holds a built report or a run.
    """
    refuse_sources(session, out)
    if (out / NAME).is_file():
        raise fail("output", f"the folder holds a built report: {out}", hint="choose another folder with -o")
    names = all_systems(session, system)
    packages = [session.package(name) for name in session.workspace.systems()]
    _refuse_run(out, packages)
    values = printed(golden_documents(session.workspace.root), packages)
    pages: list[Page] = []
    found = [session.package(name) for name in names]
    for checked in found:
        pages += _pages(session, checked, values)
    with replacing(out, session.waits_for(out)) as fresh:
        write(Site(tuple(checked.package for checked in found), tuple(pages)), fresh)
    return out / "index.html"


def _refuse_run(out: Path, packages: Sequence[CheckedPackage]) -> None:
    """AssayError `output` (usage) for a folder with documents of a run, whose pages would be taken for its hosts'."""
    told = (item for checked in packages for source in checked.package.sources for item in source.constants)
    for name in dict.fromkeys(name for item in told for name in item.files):
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
    """Return the SQL of a metric as one statement, or why there is none."""
    if isinstance(subject, SeriesSubject):
        return "", "A series is worked out beside the samples that it reads; it has no statement that stands alone."
    checked, metric = subject.checked, subject.metric
    try:
        text = dialect.text(standing_alone(checked, metric, subject.report, compiled.statements)) + ";"
        return headed(checked, metric, text), ""
    except AssayError as error:
        return "", error.diagnostics[0].message
