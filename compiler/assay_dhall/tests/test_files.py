"""Files are confined to their folders, evaluated again only when they or their imports change, and hashed."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay_dhall import DhallError, Evaluator, FolderPolicy, to_data


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Create a workspace with three files in a chain, and a file outside of it."""
    root = tmp_path / "workspace"
    (root / "parts").mkdir(parents=True)
    (root / "package.dhall").write_text("{ sum = ./parts/sum.dhall, note = ./note.sql as Text }\n")
    (root / "parts" / "sum.dhall").write_text("./one.dhall + ./one.dhall\n")
    (root / "parts" / "one.dhall").write_text("1\n")
    (root / "note.sql").write_text("select 1\n")
    (tmp_path / "secret.dhall").write_text("1\n")
    return root


def evaluate(folder: Path, text: str, *folders: Path) -> object:
    (folder / "main.dhall").write_text(text)
    return to_data(Evaluator(FolderPolicy([folder, *folders])).evaluate_file(folder / "main.dhall").value)


def list_problems(folder: Path, text: str) -> list[tuple[str, int, int, str]]:
    with pytest.raises(DhallError) as error_info:
        evaluate(folder, text)
    return [
        (problem.span.file, problem.span.line, problem.span.column, problem.message)
        for problem in error_info.value.problems
        if problem.span is not None
    ]


def test_files_that_are_read_are_listed(folder) -> None:
    evaluated = Evaluator(FolderPolicy([folder])).evaluate_file(folder / "package.dhall")
    assert to_data(evaluated.value) == {"note": "select 1\n", "sum": 2}
    assert [(file.name, file.mode) for file in evaluated.files] == [
        ("note.sql", "Text"),
        ("package.dhall", "Code"),
        ("parts/one.dhall", "Code"),
        ("parts/sum.dhall", "Code"),
    ]


@pytest.mark.parametrize(
    ("import_text", "message"),
    [
        ("env:HOME as Text", "the import `env:HOME` reads the environment"),
        ("https://example.org/a", "the import `https://example.org/a` reads from the network"),
        ("http://example.org/a", "the import `http://example.org/a` reads from the network"),
        ("/etc/passwd as Text", "the import `/etc/passwd` is an absolute path"),
        ("~/secret.dhall", "the import `~/secret.dhall` is in a home folder"),
        ("../secret.dhall", "the import `../secret.dhall` leaves the workspace"),
        ("./parts/../../secret.dhall", "the import `./parts/../../secret.dhall` leaves the workspace"),
        ("./package.dhall as Location", "`as Location` is not supported"),
        ("./note.sql as Bytes", "`as Bytes` is not supported"),
        ("missing", "the import `missing` can never be resolved"),
        ("./parts", "`parts` is a folder"),
        ("./parts/two.dhall", "the file `parts/two.dhall` does not exist"),
    ],
)
def test_import_out_of_reach_is_refused(folder, import_text, message) -> None:
    assert list_problems(folder, f"let a =\n      {import_text}\n\nin  a") == [("main.dhall", 2, 7, message)]


@pytest.mark.parametrize("import_text", ["env:HOME as Text", "../secret.dhall", "/etc/passwd as Text"])
def test_refused_import_is_no_reason_for_alternative(folder, import_text) -> None:
    assert len(list_problems(folder, f"({import_text}) ? 1")) == 1


def test_absent_import_falls_back(folder) -> None:
    assert evaluate(folder, "[ ./absent.dhall ? ./parts/one.dhall, missing ? 3 ]") == [1, 3]


def test_wrong_import_does_not_fall_back(folder) -> None:
    (folder / "bad.dhall").write_text('1 + "a"')
    assert list_problems(folder, "./bad.dhall ? 1") == [("bad.dhall", 1, 3, "`+` does not join texts")]


def test_symbolic_link_out_of_folder_is_refused(folder) -> None:
    (folder / "link.dhall").symlink_to(folder.parent / "secret.dhall")
    (folder / "up").symlink_to(folder.parent)
    message = "is a symbolic link that leads out of the workspace"
    assert list_problems(folder, "./link.dhall") == [("main.dhall", 1, 1, f"`link.dhall` {message}")]
    assert list_problems(folder, "./up/secret.dhall") == [("main.dhall", 1, 1, f"`up/secret.dhall` {message}")]


def test_symbolic_link_inside_folder_is_followed(folder) -> None:
    (folder / "link.dhall").symlink_to(folder / "parts" / "one.dhall")
    assert evaluate(folder, "./link.dhall") == 1


def test_file_outside_of_folders_is_not_evaluated(folder) -> None:
    with pytest.raises(DhallError, match=r"`secret\.dhall` is not inside the workspace"):
        Evaluator(FolderPolicy([folder])).evaluate_file(folder.parent / "secret.dhall")


def test_earlier_folder_hides_later_one(folder, tmp_path) -> None:
    shipped = tmp_path / "shipped"
    (shipped / "parts").mkdir(parents=True)
    (shipped / "parts" / "one.dhall").write_text("100")
    (shipped / "parts" / "two.dhall").write_text("./one.dhall + 1")
    assert evaluate(folder, "./parts/two.dhall", shipped) == 2


def test_cycle_is_refused_where_it_closes(folder) -> None:
    (folder / "a.dhall").write_text("./b.dhall")
    (folder / "b.dhall").write_text("1 +\n  ./a.dhall")
    assert list_problems(folder, "./a.dhall") == [
        ("b.dhall", 2, 3, "imports form a cycle: a.dhall -> b.dhall -> a.dhall")
    ]


def test_errors_of_several_files_are_reported_together(folder) -> None:
    (folder / "a.dhall").write_text("{ x = zz }")
    (folder / "b.dhall").write_text("{ x = 1")
    reported_problems = list_problems(
        folder, "let a = ./a.dhall\nlet b = ./b.dhall\nlet c = 1 + True\nin { y = a.x, z = b.x, w = zzz }"
    )
    assert [(file, line) for file, line, _, _ in reported_problems] == [
        ("a.dhall", 1),
        ("b.dhall", 1),
        ("main.dhall", 3),
        ("main.dhall", 4),
    ]


def test_deep_imports_end(folder) -> None:
    for number in range(100):
        (folder / f"f{number}.dhall").write_text(f"./f{number + 1}.dhall")
    assert [message for *_, message in list_problems(folder, "./f0.dhall")] == [
        "imports are nested more than 64 files deep"
    ]


HASH = "sha256:{}"
ONE = "sha256:d60d8415e36e86dae7f42933d3b0c4fe3ca238f057fba206c7e9fbf5d784fe15"


def test_hash_of_import_is_checked(folder) -> None:
    assert evaluate(folder, f"./parts/one.dhall {ONE}") == 1
    (folder / "parts" / "one.dhall").write_text("{- changed -} 0 + 1")
    assert evaluate(folder, f"./parts/one.dhall {ONE}") == 1
    (folder / "parts" / "one.dhall").write_text("2")
    assert list_problems(folder, f"./parts/one.dhall {ONE}") == [
        ("main.dhall", 1, 1, "the import does not match its hash")
    ]


def test_edit_evaluates_only_what_depends_on_it(folder) -> None:
    evaluator = Evaluator(FolderPolicy([folder]))
    evaluator.evaluate_file(folder / "package.dhall")
    before = dict(evaluator.modules)
    (folder / "parts" / "sum.dhall").write_text("./one.dhall + 10\n")
    assert to_data(evaluator.evaluate_file(folder / "package.dhall").value)["sum"] == 11
    same = {name for name, module in evaluator.modules.items() if module is before[name]}
    assert same == {"parts/one.dhall"}


def test_edit_of_imported_text_is_seen(folder) -> None:
    evaluator = Evaluator(FolderPolicy([folder]))
    evaluator.evaluate_file(folder / "package.dhall")
    (folder / "note.sql").write_text("select 2\n")
    assert to_data(evaluator.evaluate_file(folder / "package.dhall").value)["note"] == "select 2\n"


def test_repaired_import_is_seen(folder) -> None:
    evaluator = Evaluator(FolderPolicy([folder]))
    (folder / "parts" / "one.dhall").unlink()
    with pytest.raises(DhallError, match="does not exist"):
        evaluator.evaluate_file(folder / "package.dhall")
    (folder / "parts" / "one.dhall").write_text("5")
    assert to_data(evaluator.evaluate_file(folder / "package.dhall").value)["sum"] == 10


def test_new_file_replaces_alternative(folder) -> None:
    evaluator = Evaluator(FolderPolicy([folder]))
    (folder / "main.dhall").write_text("./new.dhall ? 1")
    assert evaluator.evaluate_file(folder / "main.dhall").value == 1
    (folder / "new.dhall").write_text("2")
    assert evaluator.evaluate_file(folder / "main.dhall").value == 2
