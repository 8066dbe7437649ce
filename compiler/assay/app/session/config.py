"""Read the settings of a workspace: the file `assay.toml`."""

from __future__ import annotations

import json
import os
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.remote.address import is_address
from assay.util.diagnostics import USAGE, AssayError, Diagnostic, Span, fail, format_excerpt, suggest_nearest
from assay.util.numbers import split_numbers

if TYPE_CHECKING:
    from assay.registry.model import RegisteredRun

NAME = "assay.toml"
TEXT, TEXTS, RUNS, CLUSTER, LINK = "text", "texts", "runs", "cluster", "link"
_EXPECTED = {
    TEXT: "a text that is not empty",
    TEXTS: "a list of texts, none of them empty",
    RUNS: "a table with a directory, or a list of directories, for each name",
    CLUSTER: "a table with `on` (a text), `lease` and `portion` (numbers above 0)",
    LINK: "an https:// or http:// address with {commit}, such as https://example.org/commit/{commit}",
}
_TEXT_TYPE: Mapping[str, Any] = {"type": "string", "pattern": r"\S"}
_TEXTS_TYPE: Mapping[str, Any] = {"type": "array", "items": _TEXT_TYPE}
_LINK_PATTERN = r"^https?://\S*\{commit\}\S*$"
_TYPES: Mapping[str, Mapping[str, Any]] = {
    TEXT: _TEXT_TYPE,
    TEXTS: _TEXTS_TYPE,
    LINK: {"type": "string", "pattern": _LINK_PATTERN},
    RUNS: {"type": "object", "additionalProperties": {"oneOf": [_TEXT_TYPE, _TEXTS_TYPE]}},
    CLUSTER: {
        "type": "object",
        "additionalProperties": False,
        "properties": {
            "on": _TEXT_TYPE,
            "lease": {"type": "number", "exclusiveMinimum": 0},
            "portion": {"type": "number", "exclusiveMinimum": 0},
        },
    },
}


@dataclass(frozen=True, slots=True)
class Setting:
    """A setting: its key, the kind of its value, the option that overrides it, and what it is."""

    name: str
    kind: str
    option: str
    doc: str
    choices: tuple[str, ...] = ()


SETTINGS = (
    Setting("report", TEXT, "REPORT", "Report that `assay build` and `assay watch` build."),
    Setting("output", TEXT, "-o", "Folder of builds. A report is built into the folder of its name there."),
    Setting("to", TEXTS, "--to", "Forms of reports.", ("pdf", "md", "md-single", "html")),
    Setting("style", TEXT, "--style", "Number style of the tables."),
    Setting("author", TEXT, "--author", "Author of reports."),
    Setting("cache", TEXT, "--cache", "Cache folder; for builds on workers also an s3:// address."),
    Setting("results", TEXT, "--results", "Folder of registered runs and recorded results, which builds append to."),
    Setting("runs-directory", TEXT, "--run", "Folder whose folders are runs."),
    Setting("baseline", TEXT, "--run", "Name of the run that others are compared with."),
    Setting(
        "cluster",
        CLUSTER,
        "--on",
        "Address `on` of the workers that builds use; `lease` in seconds and `portion` "
        "in MB of logs are those of a task.",
    ),
    Setting("commit-link", LINK, "", "Address of a commit of the software under test, with {commit} in place of it."),
    Setting("compare-link", LINK, "", "Address of the changes from commit {base} to {commit}."),
    Setting("repository", TEXT, "", "Git repository of the software under test, whose commits are listed."),
    Setting("runs", RUNS, "--run", "Directory, archive or s3:// address of each named run; a list has repeats."),
)
CLUSTER_NUMBERS = ("lease", "portion")  # members of `cluster` besides `on`
_SETTINGS_BY_NAME = {item.name: item for item in SETTINGS}


@dataclass(frozen=True, slots=True)
class Config:
    """The settings of a file, by their keys. Paths are relative to the file."""

    path: Path
    text: str
    values: Mapping[str, Any]

    def resolve(self, place: str) -> str:
        """Return a path of the file as one that is relative to the current folder; addresses stay."""
        if is_address(place):
            return place
        return os.path.relpath(self.path.parent / place)

    def get_path(self, name: str) -> str | None:
        """Return the path of a setting, relative to the current folder; None without the setting."""
        return self.resolve(self.values[name]) if name in self.values else None

    def list_runs(self) -> tuple[str, ...]:
        """Return the runs as `NAME=DIR`: those of the table, else those of the folder; the baseline is first."""
        names = list(self.values.get("runs", ())) or self._list_run_folders()
        baseline = self.values.get("baseline")
        base_runs = self.find_runs(baseline) if baseline is not None else ()
        base_names = {run.partition("=")[0] for run in base_runs}
        return (*base_runs, *(run for name in names if name not in base_names for run in self.find_runs(name)))

    def find_runs(self, name: str) -> tuple[str, ...]:
        """Return the runs of a name as `NAME=DIR`, several for repeats; empty for an unknown name.

        A name of this file precedes that of a registered run. `last:TAG` is the latest registered run with a tag.
        Raises AssayError (usage) for a registered run without places, unless the name is a path.
        """
        if places := self.find_places(name):
            return tuple(f"{name}={place}" for place in places)
        run = self._find_registered_run(name)
        if run is None or (not run.places and Path(name).exists()):
            return ()
        from assay.registry.baseline import require_places

        return tuple(f"{run.name}={place}" for place in require_places(run, name))

    def find_places(self, name: str) -> tuple[str, ...]:
        """Return the directories of a run of this file or of its runs directory; empty for an unknown name."""
        places = self.values.get("runs", {}).get(name)
        if places is None and name in self._list_run_folders():
            places = str(Path(self.values["runs-directory"]) / name)
        if places is None:
            return ()
        return tuple(map(self.resolve, [places] if isinstance(places, str) else places))

    def _find_registered_run(self, name: str) -> RegisteredRun | None:
        folder = self.get_path("results")
        if folder is None:
            return None
        from assay.registry.baseline import find_run  # only with a results folder

        return find_run(Path(folder), name)

    def require_runs(self, names: Sequence[str] = ()) -> tuple[str, ...]:
        """Return the runs of names (default: all, the baseline first) as `NAME=DIR`, those of the folder as `DIR`.

        Raises AssayError (usage) with the place of each directory that does not exist, and of an unknown baseline.
        """
        runs = [run for name in names for run in self.find_runs(name)] if names else self.list_runs()
        if problems := [*self._list_missing_places(runs), *([] if names else self._check_baseline())]:
            raise AssayError(tuple(problems), USAGE)
        # The name of a folder is none that the user chose: such runs are called what they call themselves.
        folders = (name for name in self._list_run_folders() if name not in self.values.get("runs", {}))
        unnamed_runs = {f"{name}={place}": place for name in folders for place in self.find_places(name)}
        return tuple(unnamed_runs.get(run, run) for run in runs)

    def _list_missing_places(self, runs: Sequence[str]) -> Iterator[Diagnostic]:
        hint = f"paths are relative to {NAME}"
        folder = self.get_path("runs-directory")
        if folder is not None and not runs and not Path(folder).is_dir():
            yield _describe_problem(self, "runs-directory", f"the folder of runs does not exist: {folder}", hint=hint)
        for name, _, place in (run.partition("=") for run in runs):
            if not is_address(place) and not Path(place).exists():
                message = f"the run directory does not exist: {place}"
                registered_run = self._find_registered_run(name) if name not in self.values.get("runs", {}) else None
                if registered_run:
                    hint = "correct `places` in this file; they are relative to the results folder"
                    yield Diagnostic("no-run", message, Span(str(registered_run.path)), hint=hint)
                else:
                    yield _describe_problem(self, "runs", message, key=name, hint=hint)

    def _check_baseline(self) -> Iterator[Diagnostic]:
        baseline, runs = self.values.get("baseline"), self.list_runs()
        if baseline is not None and runs and not self.find_runs(baseline):
            names = list(dict.fromkeys(run.partition("=")[0] for run in runs))
            message = f"there is no run `{baseline}`, which is the baseline"
            needs_results = baseline.startswith("last:") and "results" not in self.values
            hint = "`assay runs add` registers runs; it needs the setting `results`" if needs_results else ""
            yield _describe_problem(self, "baseline", message, expected=" or ".join(names), found=baseline, hint=hint)

    def locate(self, name: str, key: str = "") -> Span:
        """Return the place of a setting, or of a key of its table."""
        number = _find_line(self.text, name, key)
        return Span(str(self.path), number, 1) if number else Span(str(self.path))

    def _list_run_folders(self) -> list[str]:
        """Return the names of the folders of `runs-directory`, numbers in their names by value."""
        if "runs-directory" not in self.values:
            return []
        folder = self.path.parent / self.values["runs-directory"]
        names = [item.name for item in folder.iterdir() if item.is_dir()] if folder.is_dir() else []
        return sorted(names, key=split_numbers)


def read_config(path: Path) -> Config:
    """Read and check a file of settings. Raises AssayError (usage) with all its problems, each with its place."""
    try:
        text = path.read_text(encoding="utf-8")
        values = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        match = re.search(r"\(at line (\d+), column (\d+)\)", str(error))
        line, column = (int(match[1]), int(match[2])) if match else (0, 0)
        message = re.sub(r" \(at .*\)$", "", str(error))
        raise fail("config", f"the settings are not valid TOML: {message[:1].lower()}{message[1:]}",
                   span=Span(str(path), line, column), excerpt=format_excerpt(text.splitlines(), line, column),
                   status=USAGE) from None  # fmt: skip
    except (OSError, UnicodeDecodeError) as error:
        cause = getattr(error, "strerror", "") or "not UTF-8"
        raise fail("config", f"the settings cannot be read: {path}", found=cause, status=USAGE) from None
    config = Config(path, text, values)
    if problems := _list_problems(config):
        raise AssayError(problems, USAGE)
    return config


def _list_problems(config: Config) -> tuple[Diagnostic, ...]:
    problems = []
    for name, value in config.values.items():
        setting = _SETTINGS_BY_NAME.get(name)
        if setting is None:
            hint = suggest_nearest(name, _SETTINGS_BY_NAME) or f"there are {', '.join(_SETTINGS_BY_NAME)}"
            problems.append(_describe_problem(config, name, f"unknown setting `{name}`", hint=hint))
        elif not _is_of_kind(value, setting.kind):
            problems.append(_describe_invalid_value(config, setting, value))
        elif setting.choices and (unknown := [item for item in value if item not in setting.choices]):
            message = f"unknown value of the setting `{name}`"
            problems.append(_describe_problem(config, name, message, expected=" or ".join(setting.choices),
                                              found=", ".join(unknown)))  # fmt: skip
    return tuple(problems)


def _describe_problem(
    config: Config, name: str, message: str, *, key: str = "", expected: str = "", found: str = "", hint: str = ""
) -> Diagnostic:
    span = config.locate(name, key)
    length = len(key or name)
    excerpt = format_excerpt(config.text.splitlines(), span.line, span.column, length) if span.line else ""
    return Diagnostic("config", message, span, excerpt, expected=expected, found=found, hint=hint)


def _describe_invalid_value(config: Config, setting: Setting, value: object) -> Diagnostic:
    """Describe a value of another kind than its setting's; of a table, its first invalid member."""
    name, key = setting.name, ""
    if isinstance(value, dict) and setting.kind in (RUNS, CLUSTER):
        key, value = next(((key, item) for key, item in value.items() if not _is_member(setting.kind, key, item)),
                          ("", value))  # fmt: skip
    message = f"invalid value of the setting `{name}.{key}`" if key else f"invalid value of the setting `{name}`"
    located_key = key if config.locate(name, key).line else ""  # a member of an inline table has no line of its own
    return _describe_problem(config, name, message, key=located_key, expected=_EXPECTED[setting.kind],
                             found=json.dumps(value, default=str))  # fmt: skip


def _is_of_kind(value: object, kind: str) -> bool:
    if kind == TEXT:
        return isinstance(value, str) and bool(value.strip())
    if kind == LINK:
        return isinstance(value, str) and bool(re.match(_LINK_PATTERN, value))
    if kind == TEXTS:
        return isinstance(value, list) and all(_is_of_kind(item, TEXT) for item in value)
    return isinstance(value, dict) and all(_is_member(kind, name, member) for name, member in value.items())


def _is_member(kind: str, name: str, value: object) -> bool:
    """Return whether a table of a kind may have a member."""
    if kind == RUNS:
        return _is_of_kind(value, TEXT) or _is_of_kind(value, TEXTS)
    if name == "on":
        return _is_of_kind(value, TEXT)
    return name in CLUSTER_NUMBERS and isinstance(value, (int, float)) and not isinstance(value, bool) and value > 0


def _find_line(text: str, name: str, key: str) -> int:
    """Return the line of a setting or of its table, or of a key of its table; 0 if it is not found."""
    table = ""
    for number, line in enumerate(text.splitlines(), start=1):
        if match := re.match(r"\s*\[\s*([^]]+?)\s*\]", line):
            table = match[1]
            if table == name and not key:
                return number
        elif (match := re.match(r"""\s*["']?([^"'=\s]+)["']?\s*=""", line)) and (
            (table, match[1]) == ((name, key) if key else ("", name))
        ):
            return number
    return 0


def list_effective_settings(config: Config | None, defaults: Mapping[str, str]) -> list[tuple[str, str, str, str]]:
    """Return key, effective value, origin and overriding option of each setting; a row for each run.

    `defaults` are the values of settings that have a default.
    """
    rows = []
    for setting in SETTINGS:
        value = config.values.get(setting.name) if config else None
        if config is None or value is None:
            if setting.kind not in (RUNS, CLUSTER):
                rows.append((setting.name, defaults.get(setting.name, ""), "default", setting.option))
        elif setting.kind == RUNS:
            rows += [
                (f"runs.{name}", ", ".join(run.partition("=")[2] for run in config.find_runs(name)),
                 _format_place(config.locate("runs", name)), setting.option)
                for name in value
            ]  # fmt: skip
        elif setting.kind == CLUSTER:
            rows += [(f"cluster.{name}", str(member), _format_place(config.locate("cluster", name)), setting.option)
                     for name, member in value.items()]  # fmt: skip
        else:
            text = ", ".join(value) if isinstance(value, list) else str(value)
            is_path = setting.name in ("output", "cache", "results", "runs-directory", "repository")
            rows.append((setting.name, config.resolve(text) if is_path else text,
                         _format_place(config.locate(setting.name)), setting.option))  # fmt: skip
    if config and not config.values.get("runs"):
        place = _format_place(config.locate("runs-directory"))
        rows += [(f"runs.{name}", directory, place, "--run")
                 for name, _, directory in (run.partition("=") for run in config.list_runs())]  # fmt: skip
    return rows


def _format_place(span: Span) -> str:
    path = Path(span.file)
    return f"{os.path.relpath(path)}:{span.line}" if span.line else os.path.relpath(path)


def build_json_schema() -> dict[str, Any]:
    """Return the JSON Schema of the file, for editors."""
    properties = {}
    for setting in SETTINGS:
        schema = {"description": setting.doc, **_TYPES[setting.kind]}
        if setting.choices:
            schema["items"] = {"enum": list(setting.choices)}
        properties[setting.name] = schema
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"Settings of Assay ({NAME})",
        "type": "object",
        "additionalProperties": False,
        "properties": properties,
    }


def build_defaults(config: Config) -> dict[str, dict[str, object]]:
    """Return the defaults of the options and arguments of each command, by the names of their parameters.

    Those of runs are functions, so that commands without runs do not need them.
    """
    report = {"report": config.values["report"]} if "report" in config.values else {}
    of_runs: dict[str, object] = {"runs": config.require_runs} if {"runs", "runs-directory"} & {*config.values} else {}
    of_build = {name: config.values[name] for name in ("style", "author") if name in config.values}
    forms = {"forms": config.values["to"]} if "to" in config.values else {}
    folder = find_build_folder(config, str(config.values["report"])) if report else None
    built = {"folder": folder} if folder else {}
    return {
        "build": {**report, **of_runs, **of_build, **forms},
        "watch": {**report, **of_runs, **forms},
        "query": of_runs,
        "samples": of_runs,
        "compare": of_runs,
        "regenerate": forms,
        "gate": built,
        "verify": built,
    }


def require_results_folder(folder: str | Path | None, *others: str) -> Path:
    """Return the results folder. Raises AssayError (usage) if there is none; `others` are what else to pass."""
    if folder is None:
        hint = ", or ".join((f'add `results = "results"` to {NAME}', *others))
        raise fail("no-results-folder", "there is no results folder", hint=hint, status=USAGE)
    return Path(folder)


def find_build_folder(config: Config | None, report: str) -> str | None:
    """Return the folder into which a report is built by default; None without the setting `output`."""
    folder = config.get_path("output") if config else None
    return str(Path(folder) / report.rpartition("/")[2]) if folder is not None else None


def expand_run_names(config: Config | None, runs: Sequence[str]) -> tuple[str, ...]:
    """Return runs of a command line with the names of settings and registered runs replaced as `require_runs` does.

    `NAME=RUN` has another name than the run. A text that is a directory or file stays, whatever its name. Raises
    AssayError (usage) for a text that is neither, and near the names of runs.
    """
    return tuple(runs) if config is None else tuple(run for text in runs for run in _expand_run(config, text))


def split_run_name(config: Config, text: str) -> tuple[str, str] | None:
    """Split `RUN` or `NAME=RUN` into NAME, which may be empty, and the run of the settings or registry that it names.

    None if the text names no such run: it is a directory, file or address, or unknown.
    """
    if Path(text).exists() or is_address(text):
        return None
    if config.find_runs(text):
        return "", text
    name, _, run = text.partition("=")
    is_place = not run or Path(run).exists() or is_address(run)
    return (name, run) if name and not is_place and config.find_runs(run) else None


def _expand_run(config: Config, text: str) -> tuple[str, ...]:
    words = split_run_name(config, text)
    if words is None:
        _check_spelling(config, text)
        return (text,)
    name, known_name = words
    runs = config.require_runs([known_name])
    return tuple(f"{name}={run.partition('=')[2]}" for run in config.find_runs(known_name)) if name else runs


def _check_spelling(config: Config, text: str) -> None:
    place = text.partition("=")[2] or text
    if is_address(place) or "/" in place or Path(text).exists() or Path(place).exists():
        return
    if hint := suggest_nearest(place, (run.partition("=")[0] for run in config.list_runs())):
        raise fail("no-run", f"there is no run or directory `{place}`", hint=hint, status=USAGE)
