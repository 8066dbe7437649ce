"""Lay out the golden SQL of a system: each text once, and for each report a list of its files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

#: Separates a name from what distinguishes it. No name in specs has it; names of metrics and reports may have `.`.
MARK = "@"

Texts = Mapping[str, str]


def lay_out_sql(reports: Mapping[str, Texts]) -> dict[str, str]:
    """Return the golden files of a system by name; `reports` has the texts of each report by the name of the statement.

    `REPORT.txt` names the files of a report, one per line, in the order in which they run. A file is named after what
    it defines: `tables/block.sql`. If reports differ under a name, the text that more than half of them have keeps it.
    Any other text is marked with the first report, by name, that has it: `tables/block@host-activity.sql`. If only two
    reports have the name and they differ, both texts are marked.

    So which text has the plain name depends on how many reports have it, and not on their names or order: a new report
    adds a file where it differs, and seldom renames one.
    """
    users: dict[str, dict[str, list[str]]] = {}
    for report, texts in sorted(reports.items()):
        for name, text in texts.items():
            users.setdefault(name, {}).setdefault(text, []).append(report)
    files: dict[str, str] = {}
    for report, texts in reports.items():
        report_files = {_name_file(name, text, users[name]): text for name, text in texts.items()}
        files |= {**report_files, f"{report}.txt": "".join(f"{name}\n" for name in report_files)}
    return files


def _name_file(name: str, text: str, users: Mapping[str, Sequence[str]]) -> str:
    """Return the file of a text; `users` has the reports of each text under the name."""
    if 2 * len(users[text]) > sum(map(len, users.values())):
        return name
    stem, _, ending = name.rpartition(".")
    return f"{stem}{MARK}{users[text][0]}.{ending}"
