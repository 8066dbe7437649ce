"""The workspaces where cases start."""

from __future__ import annotations

import gzip
import json
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path

from tests.compare_reference import CARDANO
from tests.engine.test_unsampled import PACKAGE, SPECS
from tests.support.commands import run_assay
from tests.support.drives import create_drives_workspace
from tests.support.laboratory import ROOT
from tests.support.mixed import create_mixed_workspace
from tests.support.small import create_small_workspace
from tests.support.workspaces import copy_workspace, edit_file

OWN_COLUMNS = Path(__file__).parent.parent / "own_columns" / "package.dhall"


def _build_empty(place: Path) -> None:
    """Build no workspace: commands use the shipped specs."""
    place.mkdir()


def _build_shipped(place: Path) -> None:
    """Copy the specs of this repository, and `golden/` without normal forms."""
    copy_workspace(place)
    (place / "golden").mkdir()
    for name in ("antelope", "cardano", "cometbft", "published"):
        (place / "golden" / name).symlink_to(ROOT / "golden" / name, target_is_directory=True)


def _build_run(place: Path) -> None:
    """Build a run of three hosts in `run/`, with unpacked logs and documents with one key per line; no workspace."""
    shutil.copytree(CARDANO / "tiny" / "plain" / "run", place / "run")
    for packed_file in place.glob("run/*/*.gz"):
        packed_file.with_suffix("").write_bytes(gzip.decompress(packed_file.read_bytes()))
        packed_file.unlink()
    for document in place.glob("run/*.json"):
        text = json.dumps(json.loads(document.read_text(encoding="utf-8")), indent=1)
        document.write_text(f"{text}\n", encoding="utf-8")


def _build_publication(place: Path) -> None:
    """Write a published report to `published.json`; no workspace."""
    place.mkdir()
    shutil.copy(ROOT / "golden" / "published" / "release-10.4.1.plutus.json", place / "published.json")


def _build_mixed(place: Path) -> None:
    """Build a system with several sources and every kind of definition, and runs of it."""
    create_mixed_workspace(place)


def _build_two_systems(place: Path) -> None:
    """Build two systems that have the same metrics."""
    create_mixed_workspace(place)
    other = shutil.copytree(place / "specs" / "mix", place / "specs" / "mox")
    edit_file(other / "package.dhall", 'system = "mix"', 'system = "mox"')
    edit_file(other / "metrics.dhall", 'id = "took", name = "At the proxy"', 'id = "passed", name = "Passed"')


def _build_small(place: Path) -> None:
    """Build a package with a relation, a grain and a few metrics."""
    create_small_workspace(place, SPECS, PACKAGE)


def _build_tries(place: Path) -> None:
    """Build a system with a relation whose SQL is in the specs, and columns named like the compiler's own."""
    (place / "specs" / "tries").mkdir(parents=True)
    shutil.copy(OWN_COLUMNS, place / "specs" / "tries" / "package.dhall")


def _build_drives(place: Path) -> None:
    """Build a system with formulas over rates of drives."""
    create_drives_workspace(place)


def _build_service(place: Path) -> None:
    """Build the workspace that `assay init` writes, without its normal forms."""
    assert run_assay("init", place).status == 0
    shutil.rmtree(place / "golden")


WORKSPACES: Mapping[str, Callable[[Path], None]] = {
    "drives": _build_drives,
    "empty": _build_empty,
    "mixed": _build_mixed,
    "publication": _build_publication,
    "run": _build_run,
    "service": _build_service,
    "shipped": _build_shipped,
    "small": _build_small,
    "tries": _build_tries,
    "two-systems": _build_two_systems,
}
