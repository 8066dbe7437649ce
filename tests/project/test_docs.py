"""Test the documentation: examples work, named things exist, and existing things are named."""

from __future__ import annotations

import ast
import json
import pkgutil
import re
import shlex
import struct
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import click
import duckdb
import pytest
import yaml

from assay.cli.groups import FORMER_NAMES
from assay.cli.main import cli
from assay.engine.result_cache import get_default_folder
from tests.support.documentation import (
    ALL_PAGES,
    LANGUAGE_PAGES,
    PAGES,
    ROOT,
    Block,
    Table,
    Trial,
    create_trial,
    find_code_spans,
    format_anchor,
    list_commands,
    list_exchanges,
    list_members,
    parse_page,
    squeeze_whitespace,
)
from tests.support.modules import CORE, find_imports, list_all_modules, list_modules

pytestmark = pytest.mark.docs

COMMANDS = "docs/commands.md"
TUTORIAL = "docs/tutorial.md"
WORDS = "docs/spec-language/words.md"
#: without the page of errors, whose messages are about names that do not exist
NAMING_PAGES = [name for name in PAGES if name != "docs/spec-language/errors.md"]
SETTING_UP = re.compile(r"(python3 bootstrap\.py|just|\. \.venv)\b")
GROUPS = {"S": "package", "S.source": "source", "U": "units", "E": "event", "X": "expression", "G": "grain",
          "M": "metric", "R": "report", "B": "block", "P": "phase", "Q": "example", "O": "observation"}  # fmt: skip
DURATION = re.compile(r"(?<=; )\d+\.\d s$|^\d+\.\d s$", re.MULTILINE)  # at the end of a build
INSIDE = {"concat", "leaf", "many", "token"}  # parts of other words


@pytest.fixture
def workspace(tmp_path: Path, cache: Path) -> Trial:
    return create_trial(tmp_path, cache)


def _has_trial() -> Iterator[tuple[str, str]]:
    """Return whether a section has additions or commands to try, apart from project setup."""
    for name in PAGES:
        if name == TUTORIAL:  # its sections build on each other
            continue
        for section in dict.fromkeys(block.section for block in parse_page(name).blocks if _is_tried(block)):
            yield name, section


def _is_tried(block: Block) -> bool:
    if block.language == "sh":
        return not all(SETTING_UP.match(command) for command in list_commands(block))
    return block.language == "console" or bool(block.place and block.place["how"])


TRIED_BLOCKS = tuple(_has_trial())


def _find_blocks(language: str) -> list[Block]:
    return [block for name in ALL_PAGES for block in parse_page(name).blocks if block.language == language]


# Examples


@pytest.mark.parametrize(
    ("name", "section"), TRIED_BLOCKS, ids=[f"{name}: {section}" for name, section in TRIED_BLOCKS]
)
def test_examples_of_a_section_work(name: str, section: str, workspace: Trial) -> None:
    blocks = [block for block in parse_page(name).blocks if block.section == section]
    added_blocks = [block for block in blocks if block.place and block.place["how"]]
    for block in blocks:
        if block in added_blocks:
            workspace.put(block)
        elif block.language == "console":
            _follow(workspace, block)
        elif block.language == "sh":
            _run(workspace, block)
    if added_blocks and not any("assay check" in block.text for block in blocks):
        _check_systems(workspace, added_blocks)


def test_tutorial_works_from_top_to_bottom(workspace: Trial) -> None:
    for block in parse_page(TUTORIAL).blocks:
        if block.language == "dhall":
            workspace.put(block)
        elif block.language == "sh":
            _run(workspace, block)
        else:
            workspace = _follow(workspace, block)


def _follow(workspace: Trial, block: Block) -> Trial:
    """Run a console session, including `cd`."""
    for command, expected in list_exchanges(block):
        if command.startswith("cd "):
            workspace = replace(workspace, root=workspace.root / command.removeprefix("cd "))
            continue
        actual = "\n".join(line.rstrip() for line in workspace.run(command).stdout.split("\n"))
        expected, actual = (DURATION.sub("… s", text) for text in (expected, actual))
        assert actual == expected, f"{block.location}: `{command}` says\n{actual}"
    return workspace


def _run(workspace: Trial, block: Block) -> None:
    for command in list_commands(block):
        if not SETTING_UP.match(command):
            result = workspace.run(command)
            assert result.returncode == 0, f"{block.location}: `{command}` fails:\n{result.stdout}"


def _check_systems(workspace: Trial, added_blocks: Sequence[Block]) -> None:
    """Check the systems of the blocks (files name them as `specs/SYSTEM/...`)."""
    for system in {block.place["file"].split("/")[1] for block in added_blocks if block.place}:
        result = workspace.run(f"assay check --system {system}")
        assert result.returncode == 0, result.stdout


def test_every_dhall_and_sql_block_names_its_place() -> None:
    """The page of words is generated from files that another test runs."""
    blocks = [block for lang in ("dhall", "sql") for block in _find_blocks(lang) if block.page != WORDS]
    assert [block.location for block in blocks if not block.place] == []


def test_excerpts_occur_in_the_files_that_they_name() -> None:
    excerpts = [
        block for lang in ("dhall", "sql") for block in _find_blocks(lang) if block.place and not block.place["how"]
    ]
    assert len(excerpts) > 15
    for block in excerpts:
        assert block.place
        text = (ROOT / block.place["file"]).read_text(encoding="utf-8")
        assert squeeze_whitespace(block.body) in squeeze_whitespace(text), (
            f"{block.location} is not in {block.place['file']}"
        )


def test_blocks_are_of_known_languages() -> None:
    known_languages = {"sh", "console", "dhall", "sql", "json", "lua", "pycon", "toml", "yaml", "text"}
    languages = {block.language for name in PAGES for block in parse_page(name).blocks}
    assert languages <= known_languages


def test_yaml_blocks_are_yaml_with_valid_commands() -> None:
    for block in _find_blocks("yaml"):
        steps = [step for job in yaml.safe_load(block.body)["jobs"].values() for step in job["steps"]]
        commands = [shlex.split(step["run"].partition(" > ")[0]) for step in steps if "run" in step]
        assert commands, block.location
        for _, name, *arguments in [words for words in commands if words[0] == "assay"]:
            context = click.Context(cli, info_name="assay", obj={"cache": None, "errors": "text"})
            cli.load_commands()[name].make_context(name, arguments, parent=context)


# The command line


def _walk_commands(command: click.Command) -> Iterator[click.Command]:
    """Yield a command and its subcommands."""
    yield command
    for subcommand in command.commands.values() if isinstance(command, click.Group) else ():
        yield from _walk_commands(subcommand)


def test_commands_are_listed() -> None:
    """The page docs/reference.md, which is generated, has their options."""
    table = next(item for item in parse_page(COMMANDS).tables if item.section == "Commands")
    assert {find_code_spans(row[0])[0].split()[1] for row in table.rows} == set(cli.load_commands())


def test_options_of_all_commands_are_listed() -> None:
    documented_options = set(re.findall(r"--[a-z-]+", parse_page(COMMANDS).prose))
    general = {name for item in cli.params for name in item.opts}
    assert general <= documented_options | {"-h", "-v"}


def _read_code(name: str) -> list[str]:
    """Return the code of a page: spans of its prose, commands of its blocks."""
    document = parse_page(name)
    actual_commands = [
        command for block in document.blocks if block.language == "sh" for command in list_commands(block)
    ]
    actual_commands += [
        command for block in document.blocks if block.language == "console" for command, _ in list_exchanges(block)
    ]
    return find_code_spans(document.prose) + actual_commands


@pytest.mark.parametrize("name", ALL_PAGES)
def test_commands_named_on_a_page_exist(name: str) -> None:
    documented_commands = {
        word for text in _read_code(name) for word in re.findall(r"\bassay ([a-z]+(?:-[a-z]+)*)\b", text)
    }
    former_names = set(FORMER_NAMES) if name == "CHANGELOG.md" else set()
    assert documented_commands <= set(cli.load_commands()) | former_names


@pytest.mark.parametrize("name", PAGES)
def test_options_named_on_a_page_exist(name: str) -> None:
    texts = [text for text in _read_code(name) if not re.match(r"(just|python3?|pip|grep) ", text)]
    documented_options = {word for text in texts for word in re.findall(r"(?<![\w-])--[a-z][a-z-]*", text)}
    cli.load_commands()
    known_options = {name for command in _walk_commands(cli) for item in command.params for name in item.opts}
    assert documented_options <= known_options | {"--help"}


def test_exit_statuses_are_those_of_the_code() -> None:
    from assay.cli import errors
    from assay.util import diagnostics

    table = next(item for item in parse_page(COMMANDS).tables if item.header[0] == "exit status")
    known_statuses = {
        0, diagnostics.SPECS_OR_DATA, diagnostics.USAGE, diagnostics.DIFFERENCE, diagnostics.CLOSED_GATE,
        diagnostics.INTERNAL, errors.INTERRUPTED,
    }  # fmt: skip
    assert {int(row[0]) for row in table.rows} == known_statuses
    for name, start in (("docs/reference.md", "Exit status: "), ("docs/architecture.md", "The exit status is ")):
        sentence = squeeze_whitespace(parse_page(name).prose).partition(start)[2].split(". ")[0]
        assert {int(number) for number in re.findall(r"\d+", sentence)} == known_statuses


# Other names


def _read_recipes() -> set[str]:
    text = (ROOT / "justfile").read_text(encoding="utf-8")
    return set(re.findall(r"^([a-z][a-z-]*)(?: [^:\n]*)?:(?!=)", text, re.M))


@pytest.mark.parametrize("name", ALL_PAGES)
def test_recipes_named_on_a_page_exist(name: str) -> None:
    text = (ROOT / name).read_text(encoding="utf-8")
    recipes = re.findall(r"`just ([a-z][a-z ]*)", text) + re.findall(r"^ +just ([a-z][a-z ]*)", text, re.M)
    recipes += re.findall(r"^just ([a-z][a-z ]*)", text, re.M) + re.findall(r"bootstrap\.py +([a-z]+)", text)
    documented_recipes = {words.split()[0] for words in recipes}
    assert documented_recipes <= _read_recipes()


def test_bootstrap_offers_both_commands_of_the_readme() -> None:
    block = next(item for item in parse_page("README.md").blocks if item.section == "Two commands")
    bootstrap_text = (ROOT / "bootstrap.py").read_text(encoding="utf-8")
    for command in list_commands(block):
        words = command.split("#")[0].strip()
        assert re.search(rf"^    {re.escape(words)} ", bootstrap_text, re.M), f"bootstrap.py does not offer `{words}`"


@pytest.mark.parametrize("name", ALL_PAGES)
def test_links_resolve(name: str) -> None:
    for target in re.findall(r"\]\(([^)\s]+)\)", parse_page(name).prose):
        if target.startswith(("https://", "http://")):
            continue
        file, _, anchor = target.partition("#")
        path = (ROOT / name).parent / file if file else ROOT / name
        assert path.exists(), f"{name}: {target}"
        if anchor:
            linked_page = parse_page(str(path.resolve().relative_to(ROOT)))
            assert anchor in {format_anchor(heading) for heading in linked_page.sections}, f"{name}: {target}"


@pytest.mark.parametrize("name", NAMING_PAGES)
def test_files_named_on_a_page_exist(name: str) -> None:
    folders = "|".join(("bench", "compiler", "docs", "golden", "queries", "specs", "templates", "tests"))
    for text in find_code_spans(parse_page(name).prose):
        if re.fullmatch(rf"(?:{folders})/[\w./-]+", text):
            assert (ROOT / text).exists() or (ROOT / "starter" / text).exists(), f"{name}: {text}"


@pytest.mark.parametrize("name", NAMING_PAGES)
def test_metrics_named_on_a_page_exist(name: str) -> None:
    package = (ROOT / "golden" / "specs" / "cardano.yaml").read_text(encoding="utf-8")
    example_definitions = "".join(block.text for block in _find_blocks("dhall"))
    known_metrics = {
        *re.findall(r"^  - id: '?([\w.]+)'?$", package, re.M),
        *re.findall(r'\bid = "([\w.]+)"', example_definitions),
    }
    documented_metrics = {
        word for text in find_code_spans(parse_page(name).prose) for word in re.findall(r"\bcdf[A-Z0-9][\w.]*", text)
    }
    assert documented_metrics <= known_metrics


def test_compatibility_choices_are_where_their_table_says() -> None:
    table = next(item for item in parse_page("docs/cardano.md").tables if item.header[0] == "choice")
    documented_files: set[str] = set()
    for _, _, file_cell, _ in table.rows:
        *names, file = find_code_spans(file_cell)
        text = (ROOT / file).read_text(encoding="utf-8")
        assert [name for name in names if not re.search(rf"\b{name}\b", text)] == [], file
        documented_files.add(file)
    texts = (path for kind in ("specs/**/*.dhall", "queries/**/*.sql") for path in ROOT.glob(kind))
    documented = {
        str(path.relative_to(ROOT)) for path in texts if "-- Compatibility" in path.read_text(encoding="utf-8")
    }
    assert len(documented) >= 7
    assert documented - documented_files == set()


def test_source_kinds_in_docs_have_readers() -> None:
    from assay.ingest.readers.protocol import find_reader
    from assay.lang.model.source_kinds import SOURCE_KINDS

    (table,) = (item for item in parse_page("docs/sources.md").tables if item.header[0] == "kind")
    assert [find_code_spans(row[0]) for row in table.rows] == [[kind] for kind in SOURCE_KINDS]
    assert all(find_reader(kind) for kind in SOURCE_KINDS)


def test_picture_is_small_and_has_alternative_text() -> None:
    match = re.search(r"!\[([^\]]+)\]\((docs/images/[\w-]+\.png)\)", parse_page("README.md").prose)
    assert match
    assert len(match[1].split()) > 8
    content = (ROOT / match[2]).read_bytes()
    assert content[:8] == b"\x89PNG\r\n\x1a\n"
    assert len(content) < 200_000
    width, height = struct.unpack(">II", content[16:24])
    assert 600 <= width <= 1000
    assert 1.3 < height / width < 1.5


# The spec language


def _read_schema(group: str) -> str:
    return (ROOT / "specs" / "schema" / f"{group}.dhall").read_text(encoding="utf-8")


def _read_exports(group: str) -> set[str]:
    """Return the names that a schema file exports."""
    text = _read_schema(group)
    return set(re.findall(r"^(?:in  \{|    [,{]) (\w+)", text[text.rindex("\nin  {") + 1 :], re.M))


def _read_members(group: str) -> set[str]:
    """Return the members of the record types of a schema file."""
    return set(re.findall(r"[{,]\s+(\w+) :(?!:)", _read_schema(group)))


def _collect_words() -> set[str]:
    """Return every word in code on the pages of the language; of `S.Metric` also `Metric`."""
    pages = [parse_page(name) for name in LANGUAGE_PAGES]
    texts = [text for item in pages for text in (*find_code_spans(item.prose), *(block.text for block in item.blocks))]
    return {word for text in texts for word in re.findall(r"[A-Za-z_]\w*", text)}


@pytest.mark.parametrize("group", [path.stem for path in sorted((ROOT / "specs" / "schema").glob("*.dhall"))])
def test_every_word_of_the_schema_is_on_a_page_of_the_language(group: str) -> None:
    assert _read_exports(group)
    assert (_read_exports(group) | _read_members(group)) - _collect_words() == set()


def _read_words() -> list[tuple[str, str]]:
    """Return the words of the tables of words as (group, name)."""
    tables = [table for name in LANGUAGE_PAGES for table in parse_page(name).tables if table.header[0] == "word"]
    return [
        (group, name)
        for table in tables
        for row in table.rows
        for group, _, name in (word.rpartition(".") for word in find_code_spans(row[0]))
    ]


@pytest.mark.parametrize("group", sorted(GROUPS))
def test_tables_of_words_name_exactly_the_exports_of_a_group(group: str) -> None:
    documented_words = {name for letter, name in _read_words() if letter == group}
    assert documented_words == {word for word in _read_exports(GROUPS[group]) - INSIDE if word[0].islower()}


Fields = dict[str, tuple[str, ...]]


def _read_declarations(path: Path) -> Iterator[tuple[str, str, dict[str, str] | None]]:
    """Yield the capitalized names of a schema file: each with its text, and the defaults if it has any."""
    text = re.sub(r"--.*", "", path.read_text(encoding="utf-8"))
    for name, body in re.findall(r"^let ([A-Z]\w*) =((?:.|\n)*?)(?=^let |^in )", text, re.M):
        declared_fields, *rest = re.split(r", default(?: = |\.)", squeeze_whitespace(body), maxsplit=1)
        defaults = dict(re.findall(r"(?:^|[{,] )(\w+) = (\{[^}]*\}|[^,}]+?) ?(?=[,}])", "".join(rest)))
        yield name, declared_fields, defaults if rest else None


def _read_completions() -> dict[tuple[str, str], dict[str, str]]:
    """Return the defaults of the types that other files declare and `S` completes, by (file, name) of the type."""
    path = ROOT / "specs" / "schema" / "complete.dhall"
    files = dict(re.findall(r"^let ([A-Z]) = \./(\w+)\.dhall", path.read_text(encoding="utf-8"), re.M))
    return {
        (files[match[1]], match[2]): defaults or {}
        for _, declared, defaults in _read_declarations(path)
        if (match := re.search(r"Type = ([A-Z])\.(\w+)", declared))
    }


def _read_record_types() -> dict[tuple[str, str], Fields]:
    """Return the record types of the schema by (file, name): field -> type, and default if the type has defaults."""
    types, completions = {}, _read_completions()
    for path in sorted((ROOT / "specs" / "schema").glob("*.dhall")):
        for name, declared, own_defaults in _read_declarations(path):
            fields = re.findall(r"[{,] (\w+) : ([^,}]+?) ?(?=[,}])", declared)
            defaults = completions.pop((path.stem, name), own_defaults)
            if fields:
                types[path.stem, name] = {
                    field: (
                        _strip_prefixes(type_),
                        *(() if defaults is None else (_strip_annotation(defaults.get(field)),)),
                    )
                    for field, type_ in fields
                }
    assert completions == {}
    return types


def _strip_prefixes(text: str) -> str:
    return re.sub(r"\b[A-Z]\.(?=[A-Z])|\.Type\b", "", text)


def _strip_annotation(text: str | None) -> str:
    return re.sub(r" : .*|(?<=^None) .*", "", text) if text else "required"


def _find_declaring_file(group: str, name: str) -> str:
    """Return the file of the schema that declares the type which a group exports as `name`."""
    text = _read_schema(GROUPS[group])
    alias = re.search(rf"\b{name} = ([A-Z])\.{name}\b", text)
    import_match = alias and re.search(rf"^let {alias[1]} = \./(\w+)\.dhall", text, re.M)
    return import_match[1] if import_match else GROUPS[group]


def test_tables_of_fields_are_those_of_the_schema() -> None:
    documented: dict[tuple[str, str], Fields] = {}
    for table in (table for name in LANGUAGE_PAGES for table in parse_page(name).tables):
        heading = re.fullmatch(r"`([\w.]+)\.(\w+)` field", table.header[0])
        if heading:
            key = (_find_declaring_file(heading[1], heading[2]), heading[2])
            assert key not in documented, f"two tables describe `{heading[2]}`"
            documented[key] = {
                field: tuple(cell.strip("`") for cell in row[1:-1])
                for row in table.rows
                for field in find_code_spans(row[0])
            }
    assert documented == _read_record_types()


# The architecture


def _find_stages() -> Table:
    return next(item for item in parse_page("docs/architecture.md").tables if item.header[0] == "stage")


@pytest.mark.parametrize("row", _find_stages().rows, ids=[row[0] for row in _find_stages().rows])
def test_architecture_stage_has_documented_types(row: tuple[str, ...]) -> None:
    _, inputs, outputs, place_cell = row
    function = pkgutil.resolve_name(find_code_spans(place_cell)[0])
    annotations = dict(function.__annotations__)
    assert find_code_spans(outputs) == [re.sub(r"\b\w+\.(?=[A-Z])", "", str(annotations.pop("return")))]
    words = " ".join(str(item) for item in annotations.values())
    assert [kind for kind in find_code_spans(inputs) if kind not in words] == []


def _read_layers() -> list[set[str]]:
    """Return the documented layers, lowest first; a layer may have several folders."""
    block = next(item for item in parse_page("docs/architecture.md").blocks if item.section == "Layers")
    return [set(layer.split(", ")) for layer in squeeze_whitespace(block.text).split(" <- ")]


def test_imports_follow_the_documented_layers() -> None:
    ranks = {folder: rank for rank, layer in enumerate(_read_layers()) for folder in layer}
    package = ROOT / "compiler" / "assay"
    folders = {path.name for path in package.iterdir() if path.is_dir() and path.name != "__pycache__"}
    assert set(ranks) == folders | {"api"}
    violations = []
    for path in package.rglob("*.py"):
        folder = path.relative_to(package).parts[0].removesuffix(".py")
        for imported_package in _find_imports(path) if folder in ranks else ():
            if imported_package != folder and ranks[imported_package] >= ranks[folder]:
                violations.append(f"{path.relative_to(package)} imports {imported_package}")
    assert violations == []


def test_rooms_of_app_import_only_rooms_to_their_left() -> None:
    block = next(item for item in parse_page("docs/architecture.md").blocks if item.section == "Rooms of app")
    ranks = {room: rank for rank, room in enumerate(squeeze_whitespace(block.text).split(" <- "))}
    folder = CORE / "app"
    assert set(ranks) == {path.name for path in folder.iterdir() if path.is_dir() and path.name != "__pycache__"}
    assert [path.name for path in folder.glob("*.py")] == ["__init__.py"]
    violations = []
    for path in list_modules(folder):
        room = path.relative_to(folder).parts[0]
        names = [name.split(".") for name in find_imports(path) if name.startswith("assay.app.")]
        violations += [
            f"{path.relative_to(folder)} imports {name[2]}" for name in names if ranks[name[2]] > ranks[room]
        ]
    assert violations == []


def test_modules_of_app_import_few_others() -> None:
    """A module that needs more does several things."""
    imports = {path: {name.rpartition(".")[0] for name in find_imports(path) if name.startswith("assay.")}
               for path in list_modules(CORE / "app")}  # fmt: skip
    assert {path.relative_to(CORE).as_posix(): len(items) for path, items in imports.items() if len(items) > 25} == {}


def _find_imports(path: Path) -> set[str]:
    """Return the folders of the package that a module imports, also inside functions."""
    modules: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            parts = node.module.split(".")
            modules |= {alias.name for alias in node.names} if parts == ["assay"] else set()
            modules |= {parts[1]} if parts[0] == "assay" and len(parts) > 1 else set()
        elif isinstance(node, ast.Import):
            modules |= {name.name.split(".")[1] for name in node.names if name.name.startswith("assay.")}
    return modules - {"__version__"}


def test_functions_and_files_are_within_size_limits() -> None:
    limits = re.search(
        r"no function over (\d+) lines and no file over (\d+)", squeeze_whitespace(parse_page("CONTRIBUTING.md").prose)
    )
    assert limits
    longest, largest = map(int, limits.groups())
    texts = {path: path.read_text(encoding="utf-8") for path in list_all_modules()}
    assert [path for path, text in texts.items() if len(text.splitlines()) > largest] == []
    functions = (item for text in texts.values() for item in ast.walk(ast.parse(text)))
    long_functions = [
        item.name for item in functions if isinstance(item, ast.FunctionDef) and _count_lines(item) > longest
    ]
    assert long_functions == []


def _count_lines(function: ast.FunctionDef) -> int:
    return (function.end_lineno or 0) - function.lineno + 1


# The files of a build


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory, cache: Path) -> Path:
    """Run the build that docs/results.md begins with."""
    workspace = create_trial(tmp_path_factory.mktemp("built"), cache)
    block = next(item for item in parse_page("docs/results.md").blocks if item.section == "A build folder")
    command = list_commands(block)[0]
    result = workspace.run(command)
    assert result.returncode == 0, result.stdout
    return workspace.root / str(re.findall(r"-o (\S+)", command)[0])


def test_files_of_a_build_are_listed(built: Path) -> None:
    table = next(item for item in parse_page("docs/results.md").tables if item.section == "A build folder")
    documented_files = {name for row in table.rows for name in find_code_spans(row[0])}
    documented_files -= {"report-single.md"}  # of a form that this build does not have
    assert documented_files == {path.name + ("/" if path.is_dir() else "") for path in built.iterdir()}


def _walk_paths(value: Any, trail: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Yield the path of every member of a JSON document; items of lists have no number."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield (*trail, key)
            yield from _walk_paths(inner, (*trail, key))
    elif isinstance(value, list):
        for inner in value:
            yield from _walk_paths(inner, trail)


def _read_layout(name: str) -> list[tuple[str, ...]]:
    """Return the documented members of a file.

    A row whose text begins with "like `x`" has all members that are documented of `x`, too.
    """
    sections = (name, f"Judgements in {name}")
    page = parse_page("compiler/assay/README.md" if name == "document.json" else "docs/results.md")
    rows = [row for table in page.tables if table.section in sections for row in table.rows]
    layout: list[tuple[str, ...]] = []
    for members, text, *_ in rows:
        original = _split_path(find_code_spans(text)[0]) if text.startswith("like `") else None
        for member in map(_split_path, list_members(members)):
            copied = [path[len(original) :] for path in layout if original and path[: len(original)] == original]
            layout += [(*member, *path) for path in copied] or [member]
    return layout


def _split_path(text: str) -> tuple[str, ...]:
    return tuple(part for part in re.split(r"\.|\[\]\.?", text) if part)


def _matches_layout(path: tuple[str, ...], layout: tuple[str, ...]) -> bool:
    return len(path) == len(layout) and all(b in ("*", a) for a, b in zip(path, layout, strict=True))


@pytest.mark.parametrize("name", ["results.json", "document.json", "provenance.json"])
def test_documented_layout_of_a_file_is_complete(name: str, built: Path) -> None:
    paths = set(_walk_paths(json.loads((built / name).read_text(encoding="utf-8"))))
    layout = _read_layout(name)
    assert [path for path in sorted(paths) if not any(_matches_layout(path, item) for item in layout)] == []
    assert [item for item in layout if not any(_matches_layout(path, item) for path in paths)] == []


def _match_files(section: str, folder: Path) -> dict[str, list[Path]]:
    """Return the files of a folder by the patterns of its table, in which capitals match any name.

    Fails if a file has no pattern, or a pattern no file.
    """
    table = next(item for item in parse_page("docs/results.md").tables if item.section == section)
    names = [find_code_spans(row[0])[0] for row in table.rows]
    patterns = {name: re.sub(r"[A-Z]+", r"[\\w.-]+", name.replace(".", r"\.")) for name in names}
    files = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    matching = {
        name: [path for path in files if re.fullmatch(pattern, path.relative_to(folder).as_posix())]
        for name, pattern in patterns.items()
    }
    assert {path for fitting in matching.values() for path in fitting} == set(files)
    assert [name for name, fitting in matching.items() if not fitting] == []
    return matching


def test_documented_layout_of_sql_folder_is_complete(built: Path) -> None:
    assert len(_match_files("sql/", built / "sql")) > 1


@pytest.fixture
def ingested(workspace: Trial) -> Path:
    """Return the folder of the ingested baseline run."""
    result = workspace.run("assay ingest golden/cardano/baseline/run")
    assert result.returncode == 0, result.stdout
    return Path(result.stdout.strip())


def test_documented_layout_of_ingested_run_is_complete(ingested: Path) -> None:
    section = "The folder of an ingested run"
    matching = _match_files(section, ingested)
    table = next(item for item in parse_page("docs/results.md").tables if item.section == section)
    columns = {
        find_code_spans(row[0])[0]: find_code_spans(row[1]) for row in table.rows if len(find_code_spans(row[1])) > 1
    }
    assert len(columns) == 5
    for name, documented in columns.items():
        for path in matching[name]:
            actual = duckdb.read_parquet(str(path)).columns
            assert actual[: len(documented) if "EVENT" in name else None] == documented


@pytest.mark.usefixtures("built")
def test_documented_layout_of_cache_is_complete(cache: Path) -> None:
    table = next(item for item in parse_page("docs/architecture.md").tables if item.section == "What is kept")
    documented = {find_code_spans(row[0])[0] for row in table.rows}
    actual = {path.name + ("/" if path.is_dir() else "") for path in cache.iterdir()}
    assert len(actual) >= 4
    assert actual <= documented


def test_default_cache_is_at_the_documented_place(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    paragraphs = parse_page(COMMANDS).prose.split("\n\n")
    paragraph = next(text for text in paragraphs if text.startswith("The cache is the folder"))
    assert find_code_spans(paragraph)[:3] == ["assay", "$XDG_CACHE_HOME", "~/.cache"]
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert get_default_folder() == tmp_path / "assay"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert get_default_folder() == tmp_path / ".cache" / "assay"
