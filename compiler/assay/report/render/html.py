"""Render a report as one self-contained web page.

`templates/html/charts/` has a template for each figure that looks different on the page than in print, with the
placeholders of the printed one. Its `usermeta.assay.toggles` say which lines can be switched off: `field` is their
column in the data, `names` lists all in the order of their colours (`before` are those with a stroke class of their
name), and a parameter `hidden` takes the names that are off. A parameter `zoom`, bound to the scales, makes the axes
movable. `others` says what the tooltip of a point has of other lines: their column `value`, under the title `title`, in
rows that have another value of `line` and the same values of the columns `at`. Colours are variables of the page's
style sheet (`theme.json` has those that all charts share), so that they follow the light or dark mode. A figure without
such a template is drawn as in print, on paper.

The content security policy of the page names the hash of each of its scripts and forbids all other programs and every
address, so texts of a report cannot run. Every figure has a still (`stills.py`), which the script replaces: the chart
library is an inert text until then, so that the browser shows the page first.
"""

from __future__ import annotations

import base64
import dataclasses
import hashlib
import itertools
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from traceback import extract_tb
from typing import Any

from assay.lang.segments import list_values_of_segment
from assay.report.charts.line_strokes import MEAN, MOST_NAMED, list_line_names
from assay.report.charts.render import (
    build_figure_spec,
    get_template_path,
    load_template,
    read_cached_text,
    write_cached_text,
)
from assay.report.charts.vega_spec import describe_chart
from assay.report.document import DATA_QUALITY, PARAMETERS, Chart, Document, Entry, Plot
from assay.report.document_texts import normalize_texts
from assay.report.glossary import SAMPLE_COUNT
from assay.report.output_forms import VEGA_LITE
from assay.report.render.chart_images import Still
from assay.report.render.html_tables import (
    Grid,
    build_metric_grid,
    build_percentile_grid,
    build_plain_grid,
    identify_rows,
    pack_table,
)
from assay.report.render.html_text import build_text
from assay.report.render.markdown import find_table, index_figures, list_contents, list_observations
from assay.report.render.packed_rows import pack_datasets
from assay.report.run_results import add_unit
from assay.report.tables import Appendix, MetricTable, Table
from assay.util.bidi import isolate_page
from assay.util.diagnostics import Span, fail


@dataclass(frozen=True, slots=True)
class Detail:
    """Details of a metric in addition to its entry in the dictionary.

    `samples` are rows of formatted cells, one per run, under `header` (empty: the common header). `events` and
    `constants` (of the runs) are names with descriptions. `file` is the path of the SQL in the folder of the report.
    `changes` are the judged changes: the label of a run, then sentences. `remarks`, `figures` and `quantiles` (a header
    and rows) compare the distributions of runs.
    """

    samples: tuple[tuple[str, ...], ...] = ()
    events: tuple[tuple[str, str], ...] = ()
    file: str = ""
    sql: str = ""
    constants: tuple[tuple[str, str], ...] = ()
    header: tuple[str, ...] = ()
    changes: tuple[tuple[str, ...], ...] = ()
    remarks: tuple[str, ...] = ()
    figures: tuple[Plot, ...] = ()
    quantiles: tuple[tuple[str, ...], ...] = ()


@dataclass(frozen=True, slots=True)
class ReportDetails:
    """The details of a report, by the ids of metrics and other entries."""

    header: tuple[str, ...] = ()
    details: Mapping[str, Detail] = field(default_factory=dict)


NO_DETAILS = ReportDetails()


SNIPPET = "window.vegaEmbed = vegaEmbed;"


def build_chart_bundle(cache_folder: Path | None = None) -> str:
    """Return the chart library as a script.

    Building it takes seconds, so it is cached in the folder `cache_folder` if that is given.
    """
    key = hashlib.sha256("\0".join((version("vl-convert-python"), VEGA_LITE, SNIPPET)).encode()).hexdigest()
    path = cache_folder / f"{key}.js.sealed" if cache_folder else None
    if path and (cached := read_cached_text(path)):
        return format_chart_bundle(cached)
    import vl_convert  # slow to load

    script: str = vl_convert.javascript_bundle(SNIPPET, vl_version=VEGA_LITE)
    if path:
        write_cached_text(path, script)
    return format_chart_bundle(script)


Json = Any
#: the tick format that remains correct when an axis is zoomed
LARGE = "~s"


def build_web_specs(
    figures: Sequence[Chart | Plot], templates: Path, runs: Sequence[str]
) -> dict[str, dict[str, Json]]:
    """Return id -> specification of every figure with samples; `runs` are the labels of the report's runs."""
    drawn_figures = [figure for figure in figures if figure.has_samples]
    loaded = {figure.template: _load_figure_template(templates, figure.template) for figure in drawn_figures}
    return {figure.id: _build_spec(figure, *loaded[figure.template], runs) for figure in drawn_figures}


def load_theme(templates: Path) -> dict[str, Json]:
    """Return the configuration that all charts of a page share."""
    loaded: dict[str, Json] = json.loads((templates / "html" / "charts" / "theme.json").read_text(encoding="utf-8"))
    return loaded


def _load_figure_template(templates: Path, name: str) -> tuple[dict[str, Json], Path, bool]:
    """Return the template of a figure, its file, and whether it is made for the page."""
    is_for_page = get_template_path(templates / "html", name).is_file()
    folder = templates / "html" if is_for_page else templates
    return load_template(folder, name), get_template_path(folder, name), is_for_page


def _build_spec(
    figure: Chart | Plot, template: Mapping[str, Json], path: Path, is_for_page: bool, runs: Sequence[str]
) -> dict[str, Json]:
    spec = build_figure_spec(figure, template, path, runs)
    settings = spec["usermeta"]["assay"]
    if not is_for_page:
        return {**spec, "usermeta": {"assay": {"paper": True}}}
    if isinstance(figure, Chart):
        _enable_zoom(spec)
    toggles = settings.get("toggles")
    if toggles:
        lines = _list_lines(figure, toggles["field"])
        toggles = {**toggles, "present": [name for name in toggles["names"] if name in lines]}
    facts = {"toggles": toggles, "others": settings.get("others"), "unit": figure.unit}
    return {**spec, "usermeta": {"assay": {name: value for name, value in facts.items() if value}}}


def _enable_zoom(spec: Mapping[str, Json]) -> None:
    """Adapt the axis of a chart that can be zoomed, so that its ticks are correct at any zoom."""
    x = spec.get("encoding", {}).get("x", {})
    if isinstance(axis := x.get("axis"), dict):
        x["axis"] = {key: axis[key] for key in axis if key != "format" or axis[key] == LARGE}
    if isinstance(scale := x.get("scale"), dict):
        x["scale"] = {key: scale[key] for key in scale if key != "zero" or scale.get("type") != "log"}


def _list_lines(figure: Chart | Plot, field: str) -> set[object]:
    """Return the names of the lines of a figure."""
    if isinstance(figure, Chart):
        return {series.version or series.run for series in figure.series}
    return {row[figure.columns.index(field)] for row in figure.rows}


FONTS = ("ReportSans-Regular", "ReportSans-Semibold", "ReportSerif-Regular", "ReportSerif-Semibold")
TEMPLATE = "report.html.j2"
DIGITS = 10
OTHER = "Other numbers"
#: files of the page's script, in order
SCRIPTS = ("page.js", "tables.js", "charts.js", "definition.js", "view.js", "sentences.js")
NO_STILLS: Mapping[str, Still] = {}
#: stroke classes of lines, in the order of their names
STROKES = tuple(f"run-{number}" for number in range(1, 9))


@dataclasses.dataclass(frozen=True, slots=True)
class Figure:
    """A figure of the page.

    `section` is the id of the table with its metric, `defined` the ids and names of the metrics in it, `toggles` the
    lines that can be switched off, each with its stroke class. `still` is its drawing until the script replaces it.
    """

    id: str
    number: int
    caption: str
    words: str
    section: str
    defined: tuple[tuple[str, str], ...]
    drawn: bool
    toggles: tuple[tuple[str, str], ...]
    remark: str = ""
    still: Still | None = None


def build_page(
    document: Document,
    templates: Path,
    bundle: str,
    report_details: ReportDetails = NO_DETAILS,
    stills: Mapping[str, Still] = NO_STILLS,
) -> str:
    """Return the text of the page.

    `bundle` is the script that draws charts; `templates` holds `html/` and `charts/`. `stills` are those of figures by
    their ids.
    """
    specs = build_web_specs(document.figures, templates, list_line_names(document))
    style = _load_asset(templates, "report.css").replace("/* fonts */", format_font_faces(templates))
    script = _load_script(templates)
    entries = document.dictionary_entries
    all_entries = {entry.id: entry for entry in document.entries}
    return (
        _render_template(
            templates / "html",
            document=document,
            runs=document.manifest.header[1:],
            parts=_list_contents(document),
            rows=[group_tables_by_row(part.tables) for part in document.parts],
            broad=any(part.abreast > 2 and part.plots for part in document.parts),
            grids=_build_grids(document),
            percentiles=_build_percentile_grids(document),
            texts=[build_text(part, all_entries) for part in document.parts],
            observed=[build_text(part, all_entries) for part in list_observations(document)],
            names={entry.id: entry.name for entry in document.entries},
            figures={item.id: _build_figure(document, item, specs, stills.get(item.id)) for item in document.figures},
            known=entries,
            dimensions=_list_dimensions(document),
            linked_figures=index_figures(document),
            other=OTHER,
            hashed=any(entry.definition for entry in entries.values()),
            digits=DIGITS,
            style=style,
            script=script,
            bundle=bundle,
            data=format_script_data(_build_data(document, templates, specs, report_details)),
            policy=f"default-src 'none'; style-src 'unsafe-inline'; font-src data:; img-src data:; base-uri 'none'; "
            f"form-action 'none'; script-src {_hash_script(bundle)} {_hash_script(script)}",
        )
        + "\n"
    )


_RESOURCE_ERRORS = (MemoryError, RecursionError)


def _render_template(folder: Path, **values: object) -> str:
    """Render the page template in a sandbox, since anybody may have written it."""
    from jinja2 import FileSystemLoader, StrictUndefined, TemplateError  # slow to import, and only pages need it
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    environment = ImmutableSandboxedEnvironment(
        loader=FileSystemLoader(folder),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    try:
        return isolate_page(environment.get_template(TEMPLATE).render(values))
    except (
        TemplateError,
        ArithmeticError,
        LookupError,
        TypeError,
        ValueError,
        AttributeError,
        *_RESOURCE_ERRORS,
    ) as error:
        frames = [frame for frame in extract_tb(error.__traceback__) if frame.filename == str(folder / TEMPLATE)]
        line = int(getattr(error, "lineno", None) or (frames[-1].lineno if frames else 0) or 0)
        message = " ".join(str(error).split())
        raise fail(
            "template", f"the page cannot be rendered: {message}", span=Span(str(folder / TEMPLATE), line)
        ) from None


def _load_asset(templates: Path, name: str) -> str:
    """Load a style sheet or a script, which must not contain the end of its element."""
    path = templates / "html" / name
    text = path.read_text(encoding="utf-8")
    if re.search(r"</(script|style)|<!--", text, re.I):
        raise fail("template", "the text would end its element of the page", span=Span(str(path)))
    return text


def _load_script(templates: Path) -> str:
    """Load the page's script, whose files share one scope."""
    parts = [_load_asset(templates, name) for name in SCRIPTS]
    return "\n".join(['"use strict";', "(() => {", *parts, "})();"])


def format_chart_bundle(script: str) -> str:
    """Return the chart library as a script for a page.

    Its names are local, and no text in it can end the script element.
    """
    safe = re.sub(r"<(?=/script|!--|script)", r"\\x3c", script, flags=re.I)
    return f"(() => {{\n{safe}\n}})();"


def _hash_script(script: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'"


def format_font_faces(templates: Path) -> str:
    """Return the fonts of pages as CSS, embedded."""
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


def format_script_data(value: object) -> str:
    """Return plain data as JSON for a script element: no text in it can end the element or begin another."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def _list_contents(document: Document) -> list[tuple[str, str]]:
    """Return title and anchor of each part; other numbers are explained after the dictionary."""
    parts = list_contents(document)
    trailing_anchors = ["filters", "warnings", "provenance"]
    trailing_anchors += ["manifest"] if document.leading_answers and PARAMETERS not in document.placed else []
    trailing_anchors += ["appendix-1"] if DATA_QUALITY not in document.placed else []
    place = next((index for index, (_, anchor) in enumerate(parts) if anchor in trailing_anchors), len(parts))
    return [*parts[:place], *([(OTHER, "terms")] if document.terms else []), *parts[place:]]


def group_tables_by_row(tables: Sequence[MetricTable | Table]) -> list[list[int]]:
    """Return the indexes of tables, grouped by rows of tables that are side by side."""
    rows: list[list[int]] = []
    for index, table in enumerate(tables):
        if isinstance(table, Table) and table.beside and rows:
            rows[-1].append(index)
        else:
            rows.append([index])
    return rows


def _map_labels(document: Document) -> dict[str, str]:
    """Map labels to ids of the metrics of the dictionary, for labels of a single metric."""
    ids_by_label: dict[str, list[str]] = {}
    for entry in document.dictionary_entries.values():
        ids_by_label.setdefault(add_unit(entry.name, entry.unit), []).append(entry.id)
    return {label: ids[0] for label, ids in ids_by_label.items() if len(ids) == 1}


def _build_grids(document: Document) -> dict[str, tuple[Grid, ...]]:
    """Return the grids of each part of the report by the part's anchor."""
    entries, labels = {entry.id: entry for entry in document.entries}, _map_labels(document)
    otherwise = SAMPLE_COUNT if SAMPLE_COUNT in entries else ""
    runs = document.manifest.header[1:]

    def build_grid(item: MetricTable | Table | Appendix, anchor: str, labels: Mapping[str, str]) -> Grid:
        if isinstance(item, MetricTable):
            return identify_rows(build_metric_grid(item, entries, otherwise), f"row-{item.id}", runs)
        return identify_rows(build_plain_grid(item, labels, entries), anchor, runs)

    def build_grids(
        items: Iterable[MetricTable | Table | Appendix], name: str, labels: Mapping[str, str]
    ) -> tuple[Grid, ...]:
        anchors = itertools.chain([f"row-{name}"], (f"row-{name}-{place}" for place in itertools.count(1)))
        return tuple(build_grid(item, anchor, labels) for item, anchor in zip(items, anchors, strict=False))

    grids = {name: build_grids([getattr(document, name)], name, {}) for name in ("manifest", "filters")}
    grids |= {f"section-{part.id}": build_grids(part.tables, part.id, labels) for part in document.parts}
    grids["claims"] = build_grids(document.claims, "claims", {})
    for number, part in enumerate(document.appendices, start=1):
        items = (build_plain_grid(part, {}),) if part.rows else ()
        grids[f"appendix-{number}"] = tuple(identify_rows(item, f"row-appendix-{number}", runs) for item in items)
    return grids


def _build_percentile_grids(document: Document) -> dict[str, Grid]:
    """Return the grid of the further columns of each table of metrics that has some, by the id of the table."""
    entries = {entry.id: entry for entry in document.entries}
    return {
        table.id: identify_rows(
            build_percentile_grid(table.percentiles, entries), f"row-{table.id}-1", document.manifest.header[1:]
        )
        for table in document.metric_tables
        if table.percentiles
    }


def _list_dimensions(document: Document) -> dict[str, list[str]]:
    """Return the dimensions by which tables are split, with their values in the order of rows."""
    dimensions: dict[str, dict[str, None]] = {}
    for metric in (name for table in document.metric_tables for name in table.metrics if name):
        for dimension, value in list_values_of_segment(metric).items():
            dimensions.setdefault(dimension, {})[value] = None
    return {name: list(values) for name, values in dimensions.items()}


def _build_figure(document: Document, item: Chart | Plot, specs: Mapping[str, Any], still: Still | None) -> Figure:
    section = find_table(document, item)
    toggles = specs[item.id]["usermeta"]["assay"].get("toggles") if item.id in specs else None
    lines = _assign_strokes(toggles, item.named if isinstance(item, Plot) else ()) if toggles else ()
    if (
        isinstance(item, Plot) and sum(name != MEAN for name, _ in lines) > MOST_NAMED
    ):  # a stack of many layers has no named ones
        lines = ()
    words = describe_chart(item) if isinstance(item, Chart) else item.description
    names = {entry.id: entry.name for entry in document.entries}
    defined = tuple((name, names[name]) for name in item.shows or (item.id,) if name in names)
    remark = item.remark if isinstance(item, Chart) else ""
    return Figure(item.id, item.figure, item.caption, words, section, defined, item.id in specs, lines, remark, still)


def _assign_strokes(toggles: Mapping[str, Any], named_lines: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """Return the lines that can be switched off, each with its stroke class: `named_lines` (empty: all)."""
    own_classes = {name: name for name in toggles.get("before", ())}
    lines = [name for name in toggles["names"] if name not in own_classes and (not named_lines or name in named_lines)]
    classes = {name: STROKES[index % len(STROKES)] for index, name in enumerate(lines)} | own_classes
    return tuple((name, classes[name]) for name in toggles["present"] if name in classes)


def _build_data(
    document: Document, templates: Path, specs: Mapping[str, Any], report_details: ReportDetails
) -> dict[str, object]:
    """Return the data of the page's scripts."""
    return {
        "theme": load_theme(templates),
        "charts": {name: pack_datasets(spec) for name, spec in specs.items()},
        "templates": _load_detail_templates(templates, report_details),
        "tables": {
            f"{part.id}-{place}": pack_table(table)
            for part in document.parts
            for place, table in enumerate(part.tables)
            if isinstance(table, Table) and table.shortlist
        },
        "samples": report_details.header,
        "metrics": {entry.id: _build_metric(document, entry, report_details) for entry in document.entries},
    }


def _load_detail_templates(templates: Path, report_details: ReportDetails) -> dict[str, Json]:
    """Return the templates of the figures of details, which the page's script fills."""
    names = sorted({plot.template for detail in report_details.details.values() for plot in detail.figures})
    return {name: load_template(templates / "html", name) for name in names}


def _build_metric(document: Document, entry: Entry, report_details: ReportDetails) -> dict[str, object]:
    name = entry.id
    section = [title for title, table in document.named_metric_tables.items() if name in table.metrics]
    data: dict[str, object] = {
        "name": entry.name, "unit": entry.unit, "description": entry.description, "definition": entry.definition,
        "section": section[0] if section else "",
    }  # fmt: skip
    if entry in [item for group in document.terms for item in group.entries]:
        data["term"] = True
    if name in report_details.details:
        detail = report_details.details[name]
        data |= _make_visible(dataclasses.asdict(dataclasses.replace(detail, figures=())))
        data["figures"] = [_build_detail_figure(plot) for plot in detail.figures]
    return data


def _build_detail_figure(plot: Plot) -> dict[str, object]:
    """Return a figure as the page's script draws it: short, because there are several of each metric."""
    values = (plot.id, plot.title, plot.template, plot.x_label, plot.description)
    names = ("id", "title", "template", "x_label", "description")
    rows = [list(row[: max(index for index, value in enumerate(row, 1) if value is not None)]) for row in plot.rows]
    return dict(zip(names, values, strict=True)) | {"columns": plot.columns, "rows": rows, "panels": plot.panels}


def _make_visible(value: dict[str, Any]) -> dict[str, Any]:
    return {key: normalize_texts(item) for key, item in value.items()}
