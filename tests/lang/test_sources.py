"""Test which files an evaluation may read, and how they are hashed."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from assay.lang.sources import evaluate_file, evaluate_sources, hash_sources, read_sources
from assay.util.diagnostics import AssayError
from assay_dhall.session import MAX_BYTES

COMPILER = Path(__file__).parents[2] / "compiler"


def write_workspace(folder: Path, files: dict[str, str]) -> Path:
    """Create a workspace with these files."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder


def scan_problems(root: Path, workspace: Path, shipped: Path | None = None) -> list[str]:
    """Return the messages of the scan of a root file."""
    with pytest.raises(AssayError) as problem:
        read_sources(root, workspace, shipped)
    return [item.message for item in problem.value.diagnostics]


WORKSPACE = {
    "specs/package.dhall": "{ a = ./a.dhall, q = ../queries/q.sql as Text }",
    "specs/a.dhall": "[ ./deep/b.dhall, ./deep/b.dhall ]",
    "specs/deep/b.dhall": "(../deep/./c.dhall).c",
    "specs/deep/c.dhall": "{ c = 1 }",
    "specs/unused.dhall": "2",
    "queries/q.sql": "SELECT './no.dhall' -- env:HOME",
}


def test_every_reached_file_is_a_source_once(tmp_path: Path) -> None:
    files = read_sources(write_workspace(tmp_path, WORKSPACE) / "specs/package.dhall", tmp_path)
    assert [(file.name, file.is_code) for file in files] == [
        ("queries/q.sql", False),
        ("specs/a.dhall", True),
        ("specs/deep/b.dhall", True),
        ("specs/deep/c.dhall", True),
        ("specs/package.dhall", True),
    ]
    assert files[0].sha256 == hashlib.sha256(b"SELECT './no.dhall' -- env:HOME").hexdigest()


def test_root_may_be_relative_to_the_workspace(tmp_path: Path) -> None:
    write_workspace(tmp_path, WORKSPACE)
    relative_sources = read_sources(Path("specs/package.dhall"), tmp_path)
    assert relative_sources == read_sources(tmp_path / "specs/package.dhall", tmp_path)


def test_hash_equals_sha256sum_of_listing(tmp_path: Path) -> None:
    files = read_sources(write_workspace(tmp_path, {"b.dhall": "./a.dhall", "a.dhall": "1"}) / "b.dhall", tmp_path)
    lines = [
        f"{hashlib.sha256(text).hexdigest()}  {name}\n" for name, text in (("a.dhall", b"1"), ("b.dhall", b"./a.dhall"))
    ]
    assert hash_sources(files) == hashlib.sha256("".join(lines).encode()).hexdigest()
    assert hash_sources(reversed(files)) == hash_sources(files)


def test_hash_is_independent_of_folder_and_covers_every_byte(tmp_path: Path) -> None:
    roots = [write_workspace(tmp_path / name, WORKSPACE) for name in ("one", "two")]
    hashes = [hash_sources(read_sources(root / "specs/package.dhall", root)) for root in roots]
    assert hashes[0] == hashes[1]
    (roots[1] / "queries/q.sql").write_text("SELECT 1")
    assert hash_sources(read_sources(roots[1] / "specs/package.dhall", roots[1])) != hashes[0]


def test_link_out_of_workspace_is_refused(tmp_path: Path) -> None:
    (tmp_path / "outside.dhall").write_text("1")
    workspace = write_workspace(tmp_path / "workspace", {"a.dhall": "[ ./link.dhall, ./folder/outside.dhall ]"})
    (workspace / "link.dhall").symlink_to("../outside.dhall")
    (workspace / "folder").symlink_to("..")
    assert scan_problems(workspace / "a.dhall", workspace) == [
        "`link.dhall` is a symbolic link that leads out of the workspace",
        "`folder/outside.dhall` is a symbolic link that leads out of the workspace",
    ]


def test_link_inside_workspace_is_followed(tmp_path: Path) -> None:
    workspace = write_workspace(tmp_path / "workspace", {"real.dhall": "{ a = 1 }"})
    (workspace / "link.dhall").symlink_to("real.dhall")
    (tmp_path / "alias").symlink_to("workspace")
    assert evaluate_file(tmp_path / "alias" / "link.dhall", tmp_path / "alias") == {"a": 1}


def test_root_outside_workspace_is_refused(tmp_path: Path) -> None:
    write_workspace(tmp_path, {"workspace/a.dhall": "1", "outside.dhall": "1"})
    assert scan_problems(tmp_path / "outside.dhall", tmp_path / "workspace") == [
        "`outside.dhall` is not in the workspace"
    ]


def test_missing_root_is_named(tmp_path: Path) -> None:
    write_workspace(tmp_path, {"package.dhall": "1"})
    with pytest.raises(AssayError) as problem:
        read_sources(tmp_path / "pakage.dhall", tmp_path)
    assert str(problem.value) == (
        "error[dhall-import]: the file `pakage.dhall` does not exist\n  hint: did you mean `package.dhall`?"
    )


def test_self_import_is_a_cycle_except_as_text(tmp_path: Path) -> None:
    write_workspace(tmp_path, {"a.dhall": "./a.dhall", "b.dhall": "./b.dhall as Text"})
    assert scan_problems(tmp_path / "a.dhall", tmp_path) == ["imports form a cycle: a.dhall -> a.dhall"]
    assert evaluate_file(tmp_path / "b.dhall", tmp_path) == "./b.dhall as Text"


def test_file_reached_twice_is_no_cycle(tmp_path: Path) -> None:
    write_workspace(
        tmp_path,
        {
            "a.dhall": "[ ./b.dhall, ./c.dhall ]",
            "b.dhall": "./d.dhall",
            "c.dhall": "./d.dhall",
            "d.dhall": "1",
        },
    )
    assert evaluate_file(tmp_path / "a.dhall", tmp_path) == [1, 1]


def test_imports_are_limited_to_64_levels(tmp_path: Path) -> None:
    write_workspace(tmp_path, {f"{n}.dhall": f"./{n + 1}.dhall" for n in range(64)} | {"64.dhall": "1"})
    assert scan_problems(tmp_path / "0.dhall", tmp_path) == ["imports are nested more than 64 files deep"]
    assert len(read_sources(tmp_path / "1.dhall", tmp_path)) == 64


def test_too_much_text_is_refused(tmp_path: Path) -> None:
    write_workspace(tmp_path, {"a.dhall": "./b.txt as Text", "b.txt": "x" * MAX_BYTES})
    assert scan_problems(tmp_path / "a.dhall", tmp_path) == ["the imports are more than 2,000 files or 5 MB"]


SHIPPED = {"specs/schema/package.dhall": "{ word = ./word.dhall }", "specs/schema/word.dhall": '"shipped"'}
OWN_FILES = {"specs/mine.dhall": "(./schema/package.dhall).word"}


def test_missing_file_comes_from_shipped_files(tmp_path: Path) -> None:
    shipped, workspace = (
        write_workspace(tmp_path / "shipped", SHIPPED),
        write_workspace(tmp_path / "workspace", OWN_FILES),
    )
    assert evaluate_file(workspace / "specs/mine.dhall", workspace, shipped) == "shipped"
    names = [file.name for file in read_sources(workspace / "specs/mine.dhall", workspace, shipped)]
    assert names == ["specs/mine.dhall", "specs/schema/package.dhall", "specs/schema/word.dhall"]


def test_workspace_file_precedes_shipped_file(tmp_path: Path) -> None:
    shipped, workspace = (
        write_workspace(tmp_path / "shipped", SHIPPED),
        write_workspace(tmp_path / "workspace", OWN_FILES),
    )
    write_workspace(workspace, {"specs/schema/word.dhall": '"own"'})
    assert evaluate_file(workspace / "specs/mine.dhall", workspace, shipped) == "own"


def test_copy_of_shipped_files_has_the_same_hash(tmp_path: Path) -> None:
    shipped, workspace = (
        write_workspace(tmp_path / "shipped", SHIPPED),
        write_workspace(tmp_path / "workspace", OWN_FILES),
    )
    before = hash_sources(read_sources(workspace / "specs/mine.dhall", workspace, shipped))
    write_workspace(workspace, SHIPPED)
    assert hash_sources(read_sources(workspace / "specs/mine.dhall", workspace, shipped)) == before


def test_root_may_be_a_shipped_file(tmp_path: Path) -> None:
    shipped, workspace = (
        write_workspace(tmp_path / "shipped", SHIPPED),
        write_workspace(tmp_path / "workspace", OWN_FILES),
    )
    assert evaluate_file(shipped / "specs/schema/package.dhall", workspace, shipped) == {"word": "shipped"}
    assert evaluate_file(Path("specs/schema/word.dhall"), workspace, shipped) == "shipped"


def test_problems_of_all_files_are_reported_together(tmp_path: Path) -> None:
    write_workspace(tmp_path, {"a.dhall": "[ ./b.dhall, env:A ]", "b.dhall": "[ /c, ./d.dhall ]"})
    assert scan_problems(tmp_path / "a.dhall", tmp_path) == [
        "the import `/c` is an absolute path",
        "the file `d.dhall` does not exist",
        "the import `env:A` reads the environment",
    ]


def test_keys_are_sorted_in_every_process(tmp_path: Path) -> None:
    fields = ", ".join(f"f{number} = {number}" for number in range(40))
    (tmp_path / "a.dhall").write_text(f"{{ r = {{ {fields} }}, m = toMap {{ {fields} }} }}")
    program = (
        "import json, sys; from pathlib import Path; from assay.lang.sources import evaluate_file;"
        "print(json.dumps(evaluate_file(Path('a.dhall'), Path(sys.argv[1]))))"
    )
    texts = set()
    for seed in "01234":
        environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(COMPILER)}
        command = [sys.executable, "-c", program, str(tmp_path)]
        texts.add(subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout)
    (text,) = texts
    assert list(json.loads(text)["m"]) == sorted(f"f{number}" for number in range(40))


def test_sources_are_evaluated_as_they_were_read(tmp_path: Path) -> None:
    (tmp_path / "a.dhall").write_text("./b.dhall")
    (tmp_path / "b.dhall").write_text("1")
    files = read_sources(tmp_path / "a.dhall", tmp_path)
    (tmp_path / "b.dhall").write_text("env:HOME as Text")
    assert evaluate_sources("a.dhall", files, tmp_path).value == 1


def test_folder_and_file_with_spaces_are_read(tmp_path: Path) -> None:
    (tmp_path / "a b").mkdir()
    (tmp_path / "a b" / "c d.dhall").write_text('./"g h.dhall"')
    (tmp_path / "a b" / "g h.dhall").write_text("1")
    assert evaluate_file(tmp_path / "a b" / "c d.dhall", tmp_path) == 1
