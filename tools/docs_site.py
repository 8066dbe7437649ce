"""Build the site of the docs with Zensical, without network.

    python tools/docs_site.py OUT    write the site to OUT, a new folder

The pages are README.md, docs/ and the READMEs of examples/. Links between them become links of the site; links to other
files of the repository become plain text, unless `--repository URL` says where to find them. The folder
`schemas` has the JSON Schemas that commands print.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path, PurePosixPath

from assay.app.session import config
from assay.registry import model

ROOT = Path(__file__).resolve().parent.parent
TOP_PAGES = {"README.md": "index.md", "CONTRIBUTING.md": "contributing.md", "CHANGELOG.md": "changelog.md"}
_FENCE = re.compile(r"^(```.*?^```$)", re.M | re.S)
_LINK = re.compile(r"(?P<mark>!?)\[(?P<text>(?:[^\[\]]|\[[^\]]*\])*)\]\((?P<target>[^)\s]+)\)")


def map_pages(root: Path) -> dict[str, str]:
    """Map the files of the repository that are part of the site to their paths in it."""
    files = [*root.glob("docs/**/*.md"), *root.glob("docs/images/*"), *root.glob("examples/*/README.md")]
    files += root.glob("examples/*/*.png")
    names = [path.relative_to(root).as_posix() for path in files if "words/" not in path.as_posix()]
    return TOP_PAGES | {name: name.removeprefix("docs/") for name in sorted(names)}


def rewrite_links(text: str, name: str, pages: Mapping[str, str], repository: str) -> str:
    """Return a page with the links of the site instead of those of the repository; code blocks stay as they are."""
    folder = PurePosixPath(pages[name]).parent

    def rewrite(match: re.Match[str]) -> str:
        target, _, anchor = match["target"].partition("#")
        if not target or target.startswith(("http://", "https://")):
            return match[0]
        file = os.path.normpath(PurePosixPath(name).parent / target)
        if file in pages:
            place = os.path.relpath(pages[file], folder) + (f"#{anchor}" if anchor else "")
            return f"{match['mark']}[{match['text']}]({place})"
        return f"[{match['text']}]({repository.rstrip('/')}/{file})" if repository else match["text"]

    parts = _FENCE.split(text)
    return "".join(part if part.startswith("```") else _LINK.sub(rewrite, part) for part in parts)


def stage_pages(root: Path, folder: Path, repository: str) -> None:
    """Write the pages of the site and its settings to a folder."""
    pages = map_pages(root)
    for name, place in pages.items():
        target = folder / "pages" / place
        target.parent.mkdir(parents=True, exist_ok=True)
        if target.suffix == ".md":
            text = (root / name).read_text(encoding="utf-8")
            target.write_text(rewrite_links(text, name, pages, repository), encoding="utf-8")
        else:
            shutil.copyfile(root / name, target)
    shutil.copyfile(root / "zensical.toml", folder / "zensical.toml")


def write_schemas(folder: Path) -> None:
    """Write the JSON Schemas of the files of settings, results and runs."""
    schemas = {
        "settings": config.build_json_schema(),
        "results": model.build_json_schema(model.ResultsFile),
        "runs": model.build_json_schema(model.RegistrationFile),
    }
    folder.mkdir()
    for name, schema in schemas.items():
        (folder / f"{name}.schema.json").write_text(json.dumps(schema, indent=1) + "\n", encoding="utf-8")


def build_site(root: Path, out: Path, repository: str = "") -> None:
    """Build the site into a new folder."""
    with tempfile.TemporaryDirectory() as scratch:
        stage_pages(root, Path(scratch), repository)
        subprocess.run([sys.executable, "-m", "zensical", "build", "--strict"], cwd=scratch, check=True)
        shutil.copytree(Path(scratch) / "site", out)
    write_schemas(out / "schemas")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("--repository", default="", help="address under which the files of the repository are")
    arguments = parser.parse_args()
    build_site(ROOT, arguments.out, arguments.repository)


if __name__ == "__main__":
    main()
