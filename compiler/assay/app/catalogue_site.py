"""The catalogue as files: every page by its template, and what pages share beside them."""

from __future__ import annotations

import hashlib
import posixpath
import re
import shutil
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.app.catalogue_things import KINDS
from assay.lang.model.package import Package
from assay.lang.workspace import shipped
from assay.report.render.html import font_faces
from assay.util.escape import visible

if TYPE_CHECKING:
    from jinja2 import Environment

#: folder of the catalogue's templates beside the shipped specs
TEMPLATES = "site"
_SAFE = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9_.+-]{0,99}")
#: what stands before the name of a column, which may be that of a table, too
_COLUMNS = ("same ", "its ", "whose ", "for each ")
_MARKED = re.compile(r"`([^`\n]+)`|\*([^*\s]+)\*")


@dataclass(frozen=True, slots=True)
class Page:
    """A page: what it is of (its system, kind and name), what others say of it, its template and what that shows."""

    system: str
    kind: str
    name: str
    label: str
    doc: str
    template: str
    content: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Site:
    """All pages of some systems."""

    packages: tuple[Package, ...]
    pages: tuple[Page, ...]
    files: dict[tuple[str, str, str], str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.files.update(_files(self.pages))

    def href(self, start: str, system: str, kind: str, name: str) -> str:
        """The address of a page from a file of the site; empty where there is none."""
        target = self.files.get((system, kind, name))
        return posixpath.relpath(target, posixpath.dirname(start) or ".") if target else ""


def _files(pages: tuple[Page, ...]) -> dict[tuple[str, str, str], str]:
    """Where each page stands: by its name, with a hash where that cannot name a file, or two differ by case alone."""
    same = Counter((page.system, page.kind, page.name.lower()) for page in pages)
    found = {}
    for page in pages:
        plain = _SAFE.fullmatch(page.name) and same[page.system, page.kind, page.name.lower()] == 1
        word = page.name if plain else f"{re.sub('[^A-Za-z0-9_-]', '_', page.name)[:60]}-{_hash(page.name)}"
        found[page.system, page.kind, page.name] = f"pages/{_folder(page.system)}/{page.kind}/{word}.html"
    return found


def _folder(system: str) -> str:
    return system if _SAFE.fullmatch(system) else f"system-{_hash(system)}"


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:8]


def write(site: Site, folder: Path) -> None:
    """Write the site into an empty folder."""
    root = shipped().root
    own, styles = root / TEMPLATES, root / "templates"
    (folder / "assets").mkdir()
    style = (styles / "html" / "report.css").read_text(encoding="utf-8").replace("/* fonts */", font_faces(styles))
    (folder / "assets" / "catalogue.css").write_text(
        style + (own / "catalogue.css").read_text(encoding="utf-8"), encoding="utf-8"
    )
    shutil.copyfile(own / "catalogue.js", folder / "assets" / "catalogue.js")
    environment = _environment(own)
    systems = [package.system for package in site.packages]
    common = {"site": site, "kinds": KINDS, "systems": systems, "system_file": _system_file}
    _render(environment, "index.html.j2", folder, "index.html", common)
    for package in site.packages:
        place = _system_file(package.system)
        _render(environment, "system.html.j2", folder, place, {**common, "package": package, "system": package.system})
    packages = {package.system: package for package in site.packages}
    for page in site.pages:
        place = site.files[page.system, page.kind, page.name]
        content = {**common, **page.content, "page": page, "package": packages[page.system], "system": page.system}
        _render(environment, page.template, folder, place, content)


def _system_file(system: str) -> str:
    return f"pages/{_folder(system)}/index.html"


def _render(environment: Environment, template: str, folder: Path, file: str, content: Mapping[str, Any]) -> None:
    place = folder / file
    place.parent.mkdir(parents=True, exist_ok=True)
    site: Site = content["site"]

    def to(target: str) -> str:
        return posixpath.relpath(target, posixpath.dirname(file) or ".")

    def link(kind: str, name: str, system: str = "") -> str:
        return site.href(file, system or content["system"], kind, name)

    def marked(text: str) -> Any:
        return _marked(text, link)

    text = environment.get_template(template).render(**content, to=to, link=link, marked=marked)
    place.write_text(text + "\n", encoding="utf-8")


def _marked(text: str, link: Any) -> Any:
    """A text of the specs as HTML: names between backquotes are code, and lead to their pages; instants are set off."""
    from markupsafe import Markup, escape

    parts, end = [], 0
    for found in _MARKED.finditer(text):
        parts.append(escape(_seen(text[end : found.start()])))
        end = found.end()
        if found[2]:
            parts.append(Markup("<em>{}</em>").format(_seen(found[2])))
            continue
        column = text[: found.start()].endswith(_COLUMNS)
        href = (
            ""
            if column
            else next((link(kind, found[1]) for kind in KINDS if kind != "reports" and link(kind, found[1])), "")
        )
        code = Markup("<code>{}</code>").format(_seen(found[1]))
        parts.append(Markup('<a href="{}">{}</a>').format(href, code) if href else code)
    return Markup("").join([*parts, escape(_seen(text[end:]))])


def _seen(text: str) -> str:
    """A text in which nothing is hidden; line feeds and tabs stay."""
    return "\n".join("\t".join(map(visible, line.split("\t"))) for line in text.split("\n"))


def _environment(folder: Path) -> Environment:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined  # slow to import, and only a page needs it
    from markupsafe import Markup

    def finalize(value: Any) -> Any:
        return _seen(value) if isinstance(value, str) and not isinstance(value, Markup) else value

    return Environment(
        loader=FileSystemLoader(folder),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=finalize,
    )
