"""Packages: the same bytes in every folder, and a wheel that works alone, as `pipx run` and `uvx` install it."""

from __future__ import annotations

import argparse
import email
import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tomllib
import zipfile
from pathlib import Path

import pytest
import yaml

from tests.support.laboratory import ROOT
from tools.wheels import build_distribution, build_source, parse_url, unpack, write_sbom

TIME = "1700000000"


def copy_sources(folder: Path, mode: int) -> Path:
    """Copy the committed files, with other times and permissions."""
    names = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, stdout=subprocess.PIPE).stdout.split(b"\0")
    tops = ("compiler", "native", "specs", "queries", "templates", "starter", "examples", "site", "golden/specs")
    for name in map(os.fsdecode, filter(None, names)):
        if "/" not in name or name.startswith(tops):
            target = folder / name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / name, target)
            target.chmod(mode)
            os.utime(target, (mode, mode))
    return folder


@pytest.fixture(scope="module")
def packages(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Build the source distribution, and from it the pure wheel."""
    folder = tmp_path_factory.mktemp("packages")
    sdist = build_distribution(copy_sources(folder / "checkout", 0o644), "sdist", folder / "sdist", TIME)
    source = unpack(sdist, folder / "source")
    return sdist, build_distribution(source, "wheel", folder / "wheel", TIME, "none")


def test_packages_of_two_folders_have_the_same_bytes(packages: tuple[Path, Path], tmp_path: Path) -> None:
    source = copy_sources(tmp_path / "another folder", 0o600)
    for package, kind in zip(packages, ("sdist", "wheel"), strict=True):
        again = build_distribution(source, kind, tmp_path / kind, TIME, "none")
        assert (again.name, again.read_bytes()) == (package.name, package.read_bytes())


def test_wheel_of_a_platform_has_its_scanner(tmp_path: Path) -> None:
    library = tmp_path / "libassay_scan.so"
    library.write_bytes(b"\x7fELF")
    wheel = build_distribution(
        copy_sources(tmp_path / "checkout", 0o644), "wheel", tmp_path / "out", TIME, f"manylinux_2_17_x86_64:{library}"
    )
    assert wheel.name.endswith("-py3-none-manylinux_2_17_x86_64.whl")
    with zipfile.ZipFile(wheel) as archive:
        assert archive.read("assay/ingest/libassay_scan.so") == b"\x7fELF"
        (metadata,) = (name for name in archive.namelist() if name.endswith(".dist-info/WHEEL"))
        assert b"Root-Is-Purelib: false" in archive.read(metadata)


def test_addresses_reach_metadata_and_readme(tmp_path: Path) -> None:
    """Build packages for a published repository: its addresses are in the metadata, and no link is relative."""
    url = parse_url("https://forge.example/bench/assay/")
    _, source = build_source(copy_sources(tmp_path / "checkout", 0o644), tmp_path, TIME, url)
    wheel = build_distribution(source, "wheel", tmp_path / "wheel", TIME, "none")
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        metadata = email.message_from_bytes(archive.read(name))
    tag = f"v{metadata['Version']}"
    assert metadata.get_all("Project-URL") == [
        f"Repository, {url}",
        f"Documentation, {url}/blob/{tag}/README.md",
        f"Changelog, {url}/blob/{tag}/CHANGELOG.md",
        f"Issues, {url}/issues",
    ]
    links = re.findall(r"\]\(([^)]*)\)", metadata.get_payload())
    assert f"{url}/raw/{tag}/docs/images/report-page.png" in links
    assert f"{url}/blob/{tag}/docs/tutorial.md" in links
    assert [link for link in links if not link.startswith(("https://", "#"))] == []


@pytest.mark.parametrize("text", ["assay", "git@github.com:owner/assay.git", "https://github.com", 'https://a/b"c'])
def test_other_texts_are_no_address(text: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError, match="expected an address"):
        parse_url(text)


def test_wheel_works_alone(packages: tuple[Path, Path], tmp_path: Path) -> None:
    """Install the wheel where only its dependencies are, and do what the README begins with."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path / "venv"], check=True)
    python = tmp_path / "venv" / "bin" / "python"
    (site,) = (tmp_path / "venv").glob("lib/python*/site-packages")
    # A line of a .pth file adds a folder, but not the .pth files of that folder, so this checkout is not on the path.
    (site / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n", encoding="utf-8")
    install = ["pip", "install", "--offline", "--no-deps", "--quiet", "--python", str(python), str(packages[1])]
    subprocess.run([sys.executable, "-m", "uv", *install], check=True)
    env = {"PATH": f"{python.parent}{os.pathsep}/usr/bin{os.pathsep}/bin", "XDG_CACHE_HOME": str(tmp_path / "cache")}
    script = "assay init demo && cd demo && assay check && assay build --to md --to html && assay gate --once build/*"
    script += " && cd .. && assay init load --example k6 && cd load && assay test"
    result = subprocess.run(["sh", "-c", script], cwd=tmp_path, env=env, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    code = "import assay; print(assay.__file__)"
    place = subprocess.run([python, "-c", code], cwd=tmp_path, env=env, check=True, capture_output=True, text=True)
    assert Path(place.stdout.strip()).is_relative_to(site)
    assert list((tmp_path / "demo" / "build").rglob("report.html"))
    assert "](../" not in (tmp_path / "load" / "README.md").read_text(encoding="utf-8")


def test_sbom_is_the_same_in_every_run(tmp_path: Path) -> None:
    for name in ("one", "two"):
        write_sbom(tmp_path / name, TIME)
    text = (tmp_path / "one").read_text(encoding="utf-8")
    assert text == (tmp_path / "two").read_text(encoding="utf-8")
    document = json.loads(text)
    assert (document["bomFormat"], document["metadata"]["timestamp"]) == ("CycloneDX", "2023-11-14T22:13:20+00:00")
    names = {item["name"] for item in document["components"]}
    assert {"duckdb", "sqlglot", "typst"} <= names
    assert not names & {"pytest", "ruff", "ziglang"}


def test_conda_recipe_agrees_with_the_project() -> None:
    recipe = yaml.safe_load((ROOT / "packaging/conda/recipe.yaml").read_text(encoding="utf-8"))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    names = {"duckdb": "python-duckdb", "sqlglot[c]": "sqlglot", "typst": "typst-py"}
    requirements = {f"python {project['requires-python']}"}
    for requirement in project["dependencies"]:
        (name, versions) = re.fullmatch(r"([a-z0-9-]+(?:\[c\])?)(.*)", requirement).groups()  # type: ignore[union-attr]
        requirements.add(f"{names.get(name, name)} {versions}")
    assert set(recipe["requirements"]["run"]) == requirements
    assert recipe["context"]["version"] == project["version"]
    assert recipe["about"]["summary"] == project["description"]
