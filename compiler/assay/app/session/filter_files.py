"""Read the filter files of other tools: JSON documents whose forms the package declares (`filter_files`)."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path
from typing import Any

from assay.app.session.selection import MARK, is_file
from assay.lang.model.filters import FilterFile, FilterSource, KeyPath
from assay.lang.model.package import Package
from assay.lang.model.report import FilterUse
from assay.plan.planner import AppliedFilter
from assay.util.diagnostics import USAGE, AssayError, Span, fail, suggest_names
from assay.util.json_text import locate_value, parse_json
from assay.util.paths import resolve_path

SUFFIX = ".json"
_SHOWN = 80  # characters of a value in a message

Keys = tuple[str | int, ...]
ParseFilter = Callable[[str], AppliedFilter]


def format_use(item: FilterUse) -> str:
    """Return a filter with its argument as on the command line."""
    return f"{item.name}={item.argument}" if item.argument else item.name


def read_filter_files(package: Package, texts: Sequence[str], parse_filter: ParseFilter) -> tuple[FilterSource, ...]:
    """Return the files among texts of filters (`@FILE`) with their filters; those that a file names follow it.

    Raises AssayError for files that cannot be read, and for conditions that are not those of the package's forms.
    """
    paths = [Path(text.removeprefix(MARK)) for text in texts if is_file(text)]
    if paths and not package.filter_files:
        raise fail("filter-file", f"the system {package.system} reads no filter files", status=USAGE,
                   hint="name its filters with --filter")  # fmt: skip
    sources: dict[Path, FilterSource] = {}
    chosen = {path.name.removesuffix(SUFFIX) for path in paths}
    for path in paths:
        for file in _list_documents(package, path):
            _read_file(package, file, parse_filter, sources, chosen)
    return tuple(sources.values())


def _list_documents(package: Package, path: Path) -> list[Path]:
    """Return a file; of a directory of a run, the first document that may have filters."""
    names = [name for form in package.filter_files for name in form.files]
    files = [path / name for name in names if (path / name).is_file()][:1] if path.is_dir() else [path]
    if not files or not files[0].is_file():
        problem = "directory has no document with filters" if path.is_dir() else "filter file does not exist"
        expected = f"{' or '.join(names)} in it" if path.is_dir() else ""
        raise fail("no-filter-file", f"the {problem}: {path}", expected=expected, status=USAGE)
    return files


@dataclass(frozen=True, slots=True)
class _FilterDocument:
    """A document with its text, for messages."""

    path: Path
    text: str
    form: FilterFile
    parse_filter: ParseFilter

    def fail(self, keys: Keys, message: str, *, expected: str = "", found: str = "", hint: str = "") -> AssayError:
        """Return an error at the place of a value."""
        line, column = locate_value(self.text, keys)
        span = Span(str(self.path), line, column)
        return fail("filter-file", message, span=span, text=self.text, expected=expected, found=found, hint=hint)

    def parse(self, text: str, keys: Keys) -> str:
        """Return the label of a filter; its problems are at the place of a value."""
        try:
            return self.parse_filter(text).label
        except AssayError as error:
            line, column = locate_value(self.text, keys)
            span = Span(str(self.path), line, column)
            items = [replace(item, span=span, text=self.text) for item in error.diagnostics]
            raise AssayError(tuple(items)) from None

    def iter_conditions(self, value: object, keys: Keys) -> Iterator[str]:
        """Yield the labels of the filters of a list of conditions."""
        if not isinstance(value, list):
            raise self.fail(keys, "the filter file has no list of conditions", found=_show(value))
        for index, item in enumerate(value):
            yield self.read_condition(item, (*keys, index))

    def read_condition(self, value: object, keys: Keys) -> str:
        """Return the label of the filter of a condition."""
        tags: list[str] = []
        inner: Any = value
        place = keys
        while isinstance(inner, dict) and isinstance(inner.get(self.form.tag), str):
            tags.append(inner[self.form.tag])
            inner, place = inner.get(self.form.contents), (*place, self.form.contents)
        name = next((item.filter for item in self.form.conditions if item.tags == tuple(tags)), None)
        tag_place = (*keys, *[self.form.contents] * (len(tags) - 1), self.form.tag)
        if not tags:
            members = f"an object with `{self.form.tag}` and `{self.form.contents}`"
            raise self.fail(keys, "an item of the filter file is not a condition", expected=members, found=_show(value))
        if name is None:
            raise self.fail_at_tag(tags, keys)
        argument = _format_argument(inner)
        if argument is None:
            raise self.fail(place, f"the argument of `{tags[-1]}` is not a number", found=_show(inner))
        return self.parse(f"{name}={argument}" if argument else name, place if argument else tag_place)

    def fail_at_tag(self, tags: Sequence[str], keys: Keys) -> AssayError:
        """Return the error of a condition with unknown tags: at the first tag that no condition has there."""
        for depth, tag in enumerate(tags):
            reachable_tags = [item.tags for item in self.form.conditions if item.tags[:depth] == tuple(tags[:depth])]
            candidates = [item[depth] for item in reachable_tags if len(item) > depth]
            if tag not in candidates:
                break
        place = (*keys, *[self.form.contents] * depth, self.form.tag)
        if tag in candidates:
            return self.fail(place, f"the condition `{tag}` of the filter file has no inner condition")
        message = f"the filter file has an unknown condition `{tag}`"
        return self.fail(place, message, hint=suggest_names(tag, candidates))


def _format_argument(value: object) -> str | None:
    """Return an argument as text; empty for none, which is also written `true` or as an empty list; None if invalid."""
    if value is None or value is True or value == []:
        return ""
    return str(value) if isinstance(value, (int, Decimal)) and not isinstance(value, bool) else None


def _show(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


def _read_file(
    package: Package, path: Path, parse_filter: ParseFilter, sources: dict[Path, FilterSource], chosen: set[str]
) -> None:
    """Add a document to `sources`, then the files that it names; those in `chosen` are read anyway."""
    place = resolve_path(path)
    if place in sources:
        return
    document, value, content = _load(package, path, parse_filter)
    labels: list[str] = []
    names: list[tuple[str, Keys]] = []
    if isinstance(value, list):
        labels += document.iter_conditions(value, ())
    else:
        listed = [(keys, item) for keys, item in _find_values(value, document.form.lists)]
        named = [(keys, item) for keys, item in _find_values(value, document.form.names)]
        if not listed and not named:
            places = [".".join(item.keys) for item in (*document.form.lists, *document.form.names)]
            raise document.fail(
                (), "the document has no filters", expected=f"a list of conditions, or {', '.join(places)}"
            )
        for keys, item in listed:
            labels += document.iter_conditions(item, keys)
        for keys, item in named:
            names += _list_names(document, item, keys)
    sets = {item.name: item for item in document.form.sets}
    files = []
    for name, keys in names:
        file = path.parent / f"{name}{SUFFIX}"
        if name in chosen:
            continue
        if file.is_file():
            files.append(file)
        elif name in sets:
            labels += [document.parse(format_use(item), keys) for item in sets[name].filters]
        else:
            raise document.fail(
                keys, f"there is no filter file `{name}`", expected=f"{name}{SUFFIX} beside this file",
                hint=f"pass it with --filter-file; {suggest_names(name, sets)}",
            )  # fmt: skip
    digest = hashlib.sha256(content).hexdigest()
    shown_name = path.name if path.name not in document.form.files else f"{place.parent.name}/{path.name}"
    sources[place] = FilterSource(shown_name, len(content), digest, tuple(dict.fromkeys(labels)))
    for file in files:
        _read_file(package, file, parse_filter, sources, chosen)


def _load(package: Package, path: Path, parse_filter: ParseFilter) -> tuple[_FilterDocument, Any, bytes]:
    """Return a document, its value and its bytes.  Raises AssayError: it cannot be read, or is no JSON."""
    try:
        content = path.read_bytes()
        text = content.decode("utf-8")
        value = parse_json(text, parse_float=Decimal)
    except json.JSONDecodeError as error:
        span = Span(str(path), error.lineno, error.colno)
        raise fail("filter-file", f"the filter file is not JSON: {error.msg}", span=span) from None
    except (ValueError, RecursionError) as error:
        raise fail("filter-file", f"the filter file cannot be read: {error}", span=Span(str(path))) from None
    return _FilterDocument(path, text, _choose_form(package.filter_files, value), parse_filter), value, content


def _choose_form(forms: Sequence[FilterFile], value: Any) -> FilterFile:
    """Return the form of a document: the first one in which it has filters, else the first."""

    def fits(form: FilterFile) -> bool:
        if isinstance(value, list):
            return any(isinstance(item, dict) and form.tag in item for item in value)
        return any(_find_values(value, (*form.lists, *form.names)))

    return next(filter(fits, forms), forms[0])


def _find_values(value: Any, paths: Sequence[KeyPath]) -> Iterator[tuple[Keys, Any]]:
    """Yield the values at some paths of a document, each with its keys."""
    for path in paths:
        inner = value
        for key in path.keys:
            inner = inner.get(key) if isinstance(inner, dict) else None
        if inner is not None:
            yield path.keys, inner


def _list_names(document: _FilterDocument, value: Any, keys: Keys) -> list[tuple[str, Keys]]:
    if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
        raise document.fail(keys, "the names of filter files are not a list of texts", found=_show(value))
    return [(name, (*keys, index)) for index, name in enumerate(value)]
