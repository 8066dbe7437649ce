"""Measure the report of a testnet of many nodes: time, memory, the sizes of its files, and its first chart.

    python bench/nodes.py                        200 nodes; prints the table of bench/README.md
    python bench/nodes.py --nodes 50

The page is opened in headless Chromium, if that is installed. Exits with status 1 if a goal is missed.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from compare import ASSAY, HERE, describe_machine
from measure import CommandError, Measurement, measure
from simulation.testnet import write_testnet
from sizes import format_table

REPORT = "cometbft/qa"
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
#: milliseconds until a browser counts as one that draws nothing
PATIENCE = 180_000


@dataclass(frozen=True, slots=True)
class Row:
    """A row of the table; `goal` is the greatest value that is good, None without one."""

    name: str
    value: float
    goal: float | None = None

    @property
    def is_missed(self) -> bool:
        """Whether the value exceeds its goal."""
        return self.goal is not None and self.value > self.goal

    def format_cells(self) -> list[str]:
        """Return the cells of the row."""
        return [self.name, f"{self.value:.1f}", "" if self.goal is None else f"{self.goal:.0f}"]


def build_report(run: Path, work: Path) -> Measurement:
    """Build the report with an empty cache. Raises CommandError."""
    forms = [part for form in ("pdf", "html", "md") for part in ("--to", form)]
    return measure(
        [ASSAY, "build", REPORT, "--run", str(run), *forms, "-o", str(work / "out"), "--cache", str(work / "cache")],
        work / "stderr",
    )


def time_first_chart(page_file: Path) -> float | None:
    """Return the seconds from opening a page to its first chart; None without a browser."""
    browser_path = next((path for name in BROWSERS if (path := shutil.which(name))), None)
    if browser_path is None:
        return None
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=browser_path, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        started = time.perf_counter()
        page.goto(page_file.as_uri(), wait_until="commit", timeout=PATIENCE)
        page.wait_for_selector(".drawing.drawn", state="attached", timeout=PATIENCE)
        seconds = time.perf_counter() - started
        browser.close()
        return seconds


def list_rows(build: Measurement, out: Path) -> list[Row]:
    """Return the measured values of a build and of its files."""

    def get_megabytes(*files: Path) -> float:
        return sum(file.stat().st_size for file in files) / 1e6

    first_chart = time_first_chart(out / "report.html")
    return [
        Row("build, empty cache, seconds", build.seconds),
        Row("peak memory of all processes, MB", build.peak / 1e6, 2000),
        Row("results.json, MB", get_megabytes(out / "results.json"), 20),
        Row("rows/, MB", get_megabytes(*(out / "rows").rglob("*.parquet"))),
        Row("document.json, MB", get_megabytes(out / "document.json")),
        Row("charts/, MB", get_megabytes(*(out / "charts").iterdir())),
        Row("report.pdf, MB", get_megabytes(out / "report.pdf"), 4),
        Row("report.html, MB", get_megabytes(out / "report.html"), 8),
        *([] if first_chart is None else [Row("first chart of report.html, seconds", first_chart, 3)]),
    ]


def main() -> int:
    """Print the table; return 1 when a command fails or a goal is missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=int, default=200, help="nodes of the testnet (default 200)")
    parser.add_argument("--data", type=Path, default=HERE.parent / "build" / "bench", help="folder of the run")
    options = parser.parse_args()
    work = options.data / "nodes"
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    try:
        write_testnet(work / "run", options.nodes)
        rows = list_rows(build_report(work / "run", work), work / "out")
    except CommandError as failure:
        print(failure, file=sys.stderr)
        return 1
    finally:
        shutil.rmtree(work)
    print(f"{describe_machine()}; {options.nodes} nodes\n")
    print(format_table([["", "measured", "goal: at most"], *(row.format_cells() for row in rows)]))
    return int(any(row.is_missed for row in rows))


if __name__ == "__main__":
    sys.exit(main())
