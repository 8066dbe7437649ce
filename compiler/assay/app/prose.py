"""The prose of articles: read out of a workspace, and kept with a build."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from assay.lang.model.article import Article
from assay.lang.normal_form import CheckedPackage
from assay.lang.workspace import Workspace, positions
from assay.report.prose import Prose, read
from assay.util.diagnostics import AssayError, Diagnostic, Span, fail, raise_all, suggest_nearest

#: what a build keeps of the prose of its article: text by file, as JSON
KEPT = "prose.json"

Texts = Mapping[str, str]
"""Prose by its files, as the article names them."""


def read_prose(workspace: Workspace, checked: CheckedPackage, article: Article) -> Mapping[str, Prose]:
    """The prose of an article by its files; AssayError with everything that is wrong in it."""
    problems: list[Diagnostic] = []
    found: dict[str, Prose] = {}
    for name in (part.prose for part in article.parts if part.prose):
        shown, place = f"specs/{checked.package.system}/{name}", workspace.specs / checked.package.system / name
        if not workspace.holds(place):
            problems.append(Diagnostic("prose", "a link leads out of the workspace", Span(shown)))
            continue
        if not place.exists():
            problems.append(_missing(workspace, checked, article, name, shown))
            continue
        found[name] = read(place, shown, checked, article.choices, problems)
    raise_all(problems)
    return found


def _missing(workspace: Workspace, checked: CheckedPackage, article: Article, name: str, shown: str) -> Diagnostic:
    """That a file of prose is not there, at the line of the specs that names it."""
    system = checked.package.system
    span, excerpt = positions(workspace, system)(name)
    place = workspace.specs / system / name
    known = [path.stem for path in place.parent.glob(f"*{place.suffix}")]
    return Diagnostic(
        "prose",
        f"article `{article.name}` names prose that is not there: `{name}`",
        span,
        excerpt,
        expected=f"the file {shown}",
        hint=suggest_nearest(place.stem, known),
    )


def texts_of(prose: Mapping[str, Prose]) -> dict[str, str]:
    """The texts of prose by their files."""
    return {name: item.text for name, item in sorted(prose.items())}


def texts_by_article(workspace: Workspace, checked: CheckedPackage) -> dict[str, Texts]:
    """The texts of prose of every article; AssayError with all that is wrong in them, each thing once."""
    found: dict[str, Texts] = {}
    problems: list[Diagnostic] = []
    for article in checked.package.articles:
        try:
            found[article.name] = texts_of(read_prose(workspace, checked, article))
        except AssayError as error:
            problems += error.diagnostics
    raise_all(dict.fromkeys(problems))
    return found


def unchecked_texts(workspace: Workspace, checked: CheckedPackage) -> dict[str, Texts]:
    """The same without a look at what is wrong: a file that cannot be read has no text."""

    def text(name: str) -> str:
        place = workspace.specs / checked.package.system / name
        try:
            return place.read_text(encoding="utf-8") if workspace.holds(place) else ""
        except (OSError, ValueError):
            return ""

    return {
        article.name: {part.prose: text(part.prose) for part in article.parts if part.prose}
        for article in checked.package.articles
    }


def write_texts_of(prose: Mapping[str, Prose], folder: Path) -> None:
    """Keep the prose of an article in the folder of its build."""
    text = json.dumps(texts_of(prose), ensure_ascii=False, indent=1, sort_keys=True)
    (folder / KEPT).write_text(text + "\n", encoding="utf-8")


def kept_texts(folder: Path) -> Texts | None:
    """The prose that a build has kept; None where it has kept none.  AssayError when the file is something else."""
    place = folder / KEPT
    if not place.is_file():
        return None
    try:
        found = json.loads(place.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise fail("prose", f"the prose of the build cannot be read: {error}", span=Span(str(place))) from None
    if not isinstance(found, dict) or not all(isinstance(text, str) for text in found.values()):
        raise fail("prose", "the prose of the build is not what a build writes: text by file", span=Span(str(place)))
    return found
