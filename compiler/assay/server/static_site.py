"""Write the metrics over time as a folder of pages that needs no server (`assay site`)."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import quote

from assay.app.audit.site_templates import build_asset, create_environment
from assay.app.compare.shift_details import find_details, list_changes
from assay.app.session.config import Config
from assay.app.session.outputs import refuse_sources, replace_folder
from assay.app.session.session import Session
from assay.registry.model import quote_name
from assay.registry.store import require_recorded
from assay.server.history_pages import TITLE, PageFrame, build_history, build_overview, list_states_by_tag

FIRST = "index.html"
ASSETS = ("catalogue.css", "server.css", "catalogue.js", "overview.js")


def write_history_site(session: Session, config: Config | None, results: Path, out: Path) -> Path:
    """Write the pages of all recorded metrics into the folder `out`; return the path of the first page.

    Raises AssayError, also (usage) without results, and (`output`) if the folder has other files.
    """
    refuse_sources(session, out, former_file=FIRST)
    registry = require_recorded(results)
    states_by_tag = list_states_by_tag(session, registry)
    environment, name = create_environment(), session.workspace.root.name or "Assay"

    def create_frame(prefix: str) -> PageFrame:
        def link(address: str) -> str:
            return prefix + address

        return PageFrame(environment, name, ((FIRST, TITLE),), link)

    with replace_folder(out, session.get_wait_notice(out)) as folder:
        overview = create_frame("").render(
            "histories.html.j2", TITLE, TITLE, **build_overview(states_by_tag, _get_address)
        )
        (folder / FIRST).write_bytes(overview)
        (folder / "assets").mkdir()
        for asset in ASSETS:
            (folder / "assets" / asset).write_text(build_asset(asset), encoding="utf-8")
        fonts = session.get_templates() / "fonts"
        for done, state in enumerate(states_by_tag[""]):
            session.progress("pages", done, len(states_by_tag[""]))
            details = [find_details(config, registry.runs, state.history, item) for item in list_changes(state.history)]
            values = build_history(state.history, fonts, details)
            page = create_frame("../../").render(
                "history.html.j2", "", values["texts"].title, home=FIRST, address="", definition="", tags=(), tag="",
                last=0, token="", **values,
            )  # fmt: skip
            path = folder / "history" / quote_name(state.history.system) / f"{quote_name(state.history.metric)}.html"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(page)
    return out / FIRST


def _get_address(system: str, metric: str) -> str:
    """Return the address of the page of a metric: that of its file, whose name may have percent signs."""
    return quote(f"history/{quote_name(system)}/{quote_name(metric)}.html")
