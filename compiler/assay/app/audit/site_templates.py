"""Load the templates, styles and scripts of web pages other than reports: the catalogue and the local site."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.lang.workspace import get_shipped_workspace
from assay.report.render.html import format_font_faces
from assay.util.escape import escape_text

if TYPE_CHECKING:
    from jinja2 import Environment

#: The folder of the templates, next to the shipped specs.
TEMPLATES = "site"


def get_site_folder() -> Path:
    """Return the folder of the templates."""
    return get_shipped_workspace().root / TEMPLATES


def escape_invisible(text: str) -> str:
    """Escape invisible characters of a text, except line feeds and tabs."""
    return "\n".join("\t".join(map(escape_text, line.split("\t"))) for line in text.split("\n"))


def create_environment() -> Environment:
    """Return what renders the templates; texts are escaped."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined  # slow to import
    from markupsafe import Markup

    def escape_value(value: Any) -> Any:
        return escape_invisible(value) if isinstance(value, str) and not isinstance(value, Markup) else value

    return Environment(
        loader=FileSystemLoader(get_site_folder()),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=escape_value,
    )


def build_asset(name: str) -> str:
    """Return a script or style of the pages; `catalogue.css` begins with the style of reports, and has its fonts."""
    text = (get_site_folder() / name).read_text(encoding="utf-8")
    if name != "catalogue.css":
        return text
    templates = get_shipped_workspace().root / "templates"
    report_style = (templates / "html" / "report.css").read_text(encoding="utf-8")
    return report_style.replace("/* fonts */", format_font_faces(templates)) + text
