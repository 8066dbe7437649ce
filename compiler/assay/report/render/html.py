"""Render a report as one self-contained web page.

`templates/html/charts/` has a template for the page where a figure's looks another way there than in print; it has the
placeholders of the printed one.  Its `usermeta.assay.toggles` say which lines can be switched off: `field` names them
in the data, `names` lists all, in the order of their colours (`before` are classes of strokes that come before those of
runs), and a parameter `hidden` takes those that are off.  A
parameter `zoom`, bound to the scales, lets the axes be moved.  Colours are variables of the page's style sheet
(`theme.json` has those that all charts share), so that they follow the light.  A figure without such a template is
drawn as it is printed, on paper.

The page names the hash of each of its scripts and forbids all other programs, and every address: what a text of a
report holds stays text.  Without scripts it has everything but the charts; it then names the drawings beside it.
"""

from __future__ import annotations

import base64
import dataclasses
import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from traceback import extract_tb
from typing import Any

from assay.report.charts.render import figure_spec, keep, kept_text, load_template, template_file
from assay.report.charts.vega_spec import description
from assay.report.document import Chart, Document, Entry, Plot, Table, seen
from assay.report.glossary import SAMPLE_COUNT
from assay.report.output_forms import VEGA_LITE
from assay.report.render.html_tables import Grid, metric_grid, paragraphs, plain_grid
from assay.report.render.markdown import contents, explained, figures
from assay.report.run_results import row_label
from assay.util.diagnostics import Span, fail


@dataclass(frozen=True, slots=True)
class Detail:
    """What a build knows of a metric beside its entry in the dictionary.

    `samples` are rows of finished cells, a row a run, under a `header` (none: that of all); `events` and `constants`
    (of the runs) are names with descriptions; `file` is where the SQL stands in the folder of the report.
    """

    samples: tuple[tuple[str, ...], ...] = ()
    events: tuple[tuple[str, str], ...] = ()
    file: str = ""
    sql: str = ""
    constants: tuple[tuple[str, str], ...] = ()
    header: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Behind:
    """What stands behind a report: details by the ids of metrics and other entries."""

    header: tuple[str, ...] = ()
    details: Mapping[str, Detail] = field(default_factory=dict)


NOTHING = Behind()


SNIPPET = "window.vegaEmbed = vegaEmbed;"


def bundle(kept: Path | None = None) -> str:
    """The script; it takes seconds to make, so it is looked up in the folder `kept`, if one is given."""
    key = hashlib.sha256("\0".join((version("vl-convert-python"), VEGA_LITE, SNIPPET)).encode()).hexdigest()
    path = kept / f"{key}.js.sealed" if kept else None
    if path and (known := kept_text(path)):
        return bundle_text(known)
    import vl_convert  # slow to load

    made: str = vl_convert.javascript_bundle(SNIPPET, vl_version=VEGA_LITE)
    if path:
        keep(path, made)
    return bundle_text(made)


Json = Any
#: the format of ticks that stays right when an axis is zoomed
LARGE = "~s"


def web_specs(figures: Sequence[Chart | Plot], templates: Path, runs: Sequence[str]) -> dict[str, dict[str, Json]]:
    """Id -> specification of every figure that has something to show; `runs` are the labels of the report's."""
    drawn = [figure for figure in figures if figure.has_samples]
    loaded = {figure.template: _template(templates, figure.template) for figure in drawn}
    return {figure.id: _spec(figure, *loaded[figure.template], runs) for figure in drawn}


def theme(templates: Path) -> dict[str, Json]:
    """The configuration that all charts of a page share."""
    loaded: dict[str, Json] = json.loads((templates / "html" / "charts" / "theme.json").read_text(encoding="utf-8"))
    return loaded


def _template(templates: Path, name: str) -> tuple[dict[str, Json], Path, bool]:
    """The template of a figure, its file, and whether it is made for the page."""
    made_for_it = template_file(templates / "html", name).is_file()
    folder = templates / "html" if made_for_it else templates
    return load_template(folder, name), template_file(folder, name), made_for_it


def _spec(
    figure: Chart | Plot, template: Mapping[str, Json], place: Path, for_page: bool, runs: Sequence[str]
) -> dict[str, Json]:
    made = figure_spec(figure, template, place, runs)
    shown = made["usermeta"]["assay"]
    if not for_page:
        return {**made, "usermeta": {"assay": {"paper": True}}}
    if isinstance(figure, Chart):
        _let_zoom(made)
    toggles = shown.get("toggles")
    if toggles:
        present = _present(figure, toggles["field"])
        toggles = {**toggles, "present": [name for name in toggles["names"] if name in present]}
    return {**made, "usermeta": {"assay": {"toggles": toggles} if toggles else {}}}


def _let_zoom(made: Mapping[str, Json]) -> None:
    """Let the axis along which a chart is zoomed, where its template has one, be right at any zoom."""
    x = made.get("encoding", {}).get("x", {})
    if isinstance(axis := x.get("axis"), dict):
        x["axis"] = {key: axis[key] for key in axis if key != "format" or axis[key] == LARGE}
    if isinstance(scale := x.get("scale"), dict):
        x["scale"] = {key: scale[key] for key in scale if key != "zero" or scale.get("type") != "log"}


def _present(figure: Chart | Plot, field: str) -> set[object]:
    """The lines that a figure has."""
    if isinstance(figure, Chart):
        return {series.run for series in figure.series}
    return {row[figure.columns.index(field)] for row in figure.rows}


FONTS = ("ReportSans-Regular", "ReportSans-Semibold", "ReportSerif-Regular", "ReportSerif-Semibold")
TEMPLATE = "report.html.j2"
DIGITS = 10
OTHER = "Other numbers"
#: strokes of lines in the order of their names
STROKES = tuple(f"run-{number}" for number in range(1, 9))


@dataclasses.dataclass(frozen=True, slots=True)
class Figure:
    """A figure of the page: `section` is the id of the table that has its metric, `defined` the ids and names of what
    it shows, `toggles` the lines that can be switched off, each with the class of its stroke."""

    id: str
    number: int
    caption: str
    words: str
    section: str
    defined: tuple[tuple[str, str], ...]
    drawn: bool
    toggles: tuple[tuple[str, str], ...]


def page(document: Document, templates: Path, bundle: str, behind: Behind = NOTHING) -> str:
    """The text of the page; `bundle` is the script that draws charts.  `templates` holds `html/` and `charts/`."""
    specs = web_specs(document.figures, templates, document.manifest.header[1:])
    style = _asset(templates, "report.css").replace("/* fonts */", font_faces(templates))
    script = _asset(templates, "report.js")
    known = explained(document)
    return (
        _filled(
            templates / "html",
            document=document,
            runs=document.manifest.header[1:],
            parts=_contents(document),
            rows=[rows_of_tables(gallery.tables) for gallery in document.galleries],
            broad=any(gallery.abreast > 2 and gallery.plots for gallery in document.galleries),
            grids=_grids(document),
            texts=[
                paragraphs(gallery, {entry.id: entry for entry in document.entries}) for gallery in document.galleries
            ],
            names={entry.id: entry.name for entry in document.entries},
            figures={item.id: _figure(document, item, specs) for item in document.figures},
            known=known,
            numbers=figures(document),
            other=OTHER,
            hashed=any(entry.definition for entry in known.values()),
            digits=DIGITS,
            style=style,
            script=script,
            bundle=bundle,
            data=data_text(_data(document, templates, specs, behind)),
            policy=f"default-src 'none'; style-src 'unsafe-inline'; font-src data:; img-src data:; base-uri 'none'; "
            f"form-action 'none'; script-src {_hash(bundle)} {_hash(script)}",
        )
        + "\n"
    )


_TOO_MUCH = (MemoryError, RecursionError)


def _filled(folder: Path, **values: object) -> str:
    """The template of a page, with values; what it may do is bounded, for it may be anybody's."""
    from jinja2 import FileSystemLoader, StrictUndefined, TemplateError  # slow to import, and only a page needs it
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    environment = ImmutableSandboxedEnvironment(
        loader=FileSystemLoader(folder),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    try:
        return environment.get_template(TEMPLATE).render(values)
    except (TemplateError, ArithmeticError, LookupError, TypeError, ValueError, AttributeError, *_TOO_MUCH) as error:
        frames = [frame for frame in extract_tb(error.__traceback__) if frame.filename == str(folder / TEMPLATE)]
        line = int(getattr(error, "lineno", None) or (frames[-1].lineno if frames else 0) or 0)
        said = " ".join(str(error).split())
        raise fail("template", f"the page cannot be made: {said}", span=Span(str(folder / TEMPLATE), line)) from None


def _asset(templates: Path, name: str) -> str:
    """A style sheet or a script, which must not end the element that holds it."""
    place = templates / "html" / name
    text = place.read_text(encoding="utf-8")
    if re.search(r"</(script|style)|<!--", text, re.I):
        raise fail("template", "the text would end the element of the page that holds it", span=Span(str(place)))
    return text


def bundle_text(made: str) -> str:
    """The chart library as a script that can stand in a page: alone with its names, and without what would end it."""
    safe = re.sub(r"<(?=/script|!--|script)", r"\\x3c", made, flags=re.I)
    return f"(() => {{\n{safe}\n}})();"


def _hash(script: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'"


def font_faces(templates: Path) -> str:
    """The fonts of pages as CSS, each inside it."""
    faces = []
    for name in FONTS:
        family, _, weight = name.partition("-")
        content = base64.b64encode((templates / "html" / "fonts" / f"{name}.woff2").read_bytes()).decode()
        faces.append(
            f'@font-face {{ font-family: "{family.replace("Report", "Report ")}"; '
            f"font-weight: {600 if weight == 'Semibold' else 400}; "
            f'src: url("data:font/woff2;base64,{content}") format("woff2"); }}'
        )
    return "\n".join(faces)


def data_text(value: object) -> str:
    """Plain data as JSON that can stand in a script element: no text in it can end the element, or begin another."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def _contents(document: Document) -> list[tuple[str, str]]:
    """Title and anchor of each part; other numbers are explained behind the dictionary."""
    parts = contents(document)
    after = ("filters", "warnings", "appendix-1", "provenance")
    place = next((index for index, (_, anchor) in enumerate(parts) if anchor in after), len(parts))
    return [*parts[:place], *([(OTHER, "terms")] if document.terms else []), *parts[place:]]


def rows_of_tables(tables: Sequence[Table]) -> list[list[int]]:
    """The places of tables, those together that stand beside each other."""
    rows: list[list[int]] = []
    for place, table in enumerate(tables):
        if table.beside and rows:
            rows[-1].append(place)
        else:
            rows.append([place])
    return rows


def _labels(document: Document) -> dict[str, str]:
    """Label -> id of the metrics of the dictionary, as far as a label is that of one only."""
    found: dict[str, list[str]] = {}
    for entry in explained(document).values():
        found.setdefault(row_label(entry.name, entry.unit), []).append(entry.id)
    return {label: ids[0] for label, ids in found.items() if len(ids) == 1}


def _grids(document: Document) -> dict[str, tuple[Grid, ...]]:
    """The grids of each part of the report by the part's anchor."""
    known, labels = {entry.id: entry for entry in document.entries}, _labels(document)
    found: dict[str, tuple[Grid, ...]] = {}
    for name, table in (("manifest", document.manifest), ("filters", document.filters)):
        found[name] = (plain_grid(table, {}, known),)
    otherwise = SAMPLE_COUNT if SAMPLE_COUNT in known else ""
    for section in document.sections:
        found[f"section-{section.id}"] = (metric_grid(section, known, otherwise),)
    for gallery in document.galleries:
        found[f"section-{gallery.id}"] = tuple(plain_grid(item, labels, known) for item in gallery.tables)
    found["claims"] = tuple(plain_grid(part, {}, known) for part in document.claims)
    for number, part in enumerate(document.appendices, start=1):
        found[f"appendix-{number}"] = (plain_grid(part, {}),) if part.rows else ()
    return found


def _figure(document: Document, item: Chart | Plot, specs: Mapping[str, Any]) -> Figure:
    section = next((part.id for part in document.sections if item.id in part.metrics), "")
    toggles = specs[item.id]["usermeta"]["assay"].get("toggles") if item.id in specs else None
    lines = _strokes(toggles) if toggles else ()
    words = description(item) if isinstance(item, Chart) else item.description
    names = {entry.id: entry.name for entry in document.entries}
    shows = (item.shows if isinstance(item, Plot) else ()) or (item.id,)
    defined = tuple((name, names[name]) for name in shows if name in names)
    return Figure(item.id, item.figure, item.caption, words, section, defined, item.id in specs, lines)


def _strokes(toggles: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    """The lines that can be switched off, each with the class of its stroke."""
    classes = (*toggles.get("before", ()), *STROKES)
    return tuple((name, classes[toggles["names"].index(name) % len(classes)]) for name in toggles["present"])


def _data(document: Document, templates: Path, specs: Mapping[str, Any], behind: Behind) -> dict[str, object]:
    """What the page's scripts read."""
    return {
        "theme": theme(templates),
        "charts": specs,
        "samples": behind.header,
        "metrics": {entry.id: _metric(document, entry, behind) for entry in document.entries},
    }


def _metric(document: Document, entry: Entry, behind: Behind) -> dict[str, object]:
    name = entry.id
    section: Sequence[str] = [part.title for part in document.sections if name in part.metrics]
    found: dict[str, object] = {
        "name": entry.name, "unit": entry.unit, "description": entry.description, "definition": entry.definition,
        "section": section[0] if section else "",
    }  # fmt: skip
    if entry in [item for group in document.terms for item in group.entries]:
        found["term"] = True
    if name in behind.details:
        found |= _seen(dataclasses.asdict(behind.details[name]))
    return found


def _seen(value: dict[str, Any]) -> dict[str, Any]:
    return {key: seen(item) for key, item in value.items()}
