"""Add the texts of an author to the parts of a report, before their first block or before any other one.

A folder has them as Markdown. A file is the text of the part with its name, such as `times.md` of the part "Times", or
has a heading `# Times` before the text of each part. Text below a heading `## Waiting time` stands before the block of
the part with this title. The part "Observations" that rules draft has the text of its name.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from assay.app.session.prose import AUTHOR_TEXTS, KEPT, OBSERVATIONS, read_prose, read_stored_texts
from assay.lang.blocks.prose import Prose as ProseBlock
from assay.lang.checked_package import CheckedPackage
from assay.lang.model.parts import Block, Part
from assay.lang.model.report import Chart, Report
from assay.lang.workspace import Workspace
from assay.report.formatted_text import name_anchor
from assay.report.prose import Prose, ProseScope, parse_prose
from assay.util.diagnostics import USAGE, Diagnostic, Span, fail, raise_all, suggest_names

_SUFFIX = ".md"
_HEADING = re.compile(r"(#{1,2})[ \t]+(.*?)[ \t]*#*[ \t]*$")
_FENCE = re.compile(r"[ ]{0,3}(```|~~~)")


@dataclass(frozen=True, slots=True)
class _Passage:
    """A text for a part, or for a block of it (`block`, empty for the part), by the anchors of their titles.

    `text` begins with an empty line for each line of the file before it, so that places in it are those of the file.
    """

    path: Path
    line: int
    part: str
    block: str
    text: str

    @property
    def name(self) -> str:
        """The name that a build gives it."""
        return f"{AUTHOR_TEXTS}{self.part}{f'/{self.block}' if self.block else ''}{_SUFFIX}"


def read_texts(
    workspace: Workspace, checked: CheckedPackage, report: Report, place: str
) -> tuple[Report, Mapping[str, Prose]]:
    """Return a report with the texts of a folder in its parts, if there is one, and all of its texts by name.

    `place` may also be the stored prose of a build. Raises AssayError: a text is of no part or block, two are of one, a
    quote or link leads nowhere, and (usage) the folder has no text.
    """
    texts = read_prose(workspace, checked, report)
    if not place:
        return report, texts
    passages = list(_read_stored(Path(place)) if Path(place).name == KEPT else _read_folder(Path(place)))
    problems: list[Diagnostic] = []
    anchors = [name_anchor(part.title) for part in report.parts]
    groups = [group.name for group in report.groups]
    added: dict[str, Prose] = {}
    for passage in passages:
        if passage.part == Path(OBSERVATIONS).stem not in anchors and not passage.block:
            if OBSERVATIONS in added:
                problems.append(_describe_problem(checked, report, passage, None, is_second=True))
            added[OBSERVATIONS] = Prose(passage.path, passage.text, (), is_authors=True)
            continue
        part = next((item for item in report.parts if name_anchor(item.title) == passage.part), None)
        index = _find_index(checked, part, passage.block) if part else None
        if part is None or index is None or passage.name in added:
            problems.append(_describe_problem(checked, report, passage, part, is_second=passage.name in added))
            continue
        needs_group = bool(groups) and not part.group
        scope = ProseScope(checked, report.choices, anchors, groups, needs_group, report.compared_metrics)
        prose = Prose(passage.path, passage.text, (), is_authors=True)
        added[passage.name] = parse_prose(prose, str(passage.path), scope, problems)
        block = ProseBlock(passage.name)
        changed = replace(part, blocks=(*part.blocks[:index], block, *part.blocks[index:]))
        report = replace(report, parts=tuple(changed if item is part else item for item in report.parts))
    raise_all(problems)
    return report, {**texts, **added}


def _read_folder(folder: Path) -> Iterator[_Passage]:
    """Yield the texts of the files of a folder. Raises AssayError (usage): there is none, or one cannot be read."""
    files = sorted(folder.glob(f"*{_SUFFIX}"))
    if not files:
        lack = "no such folder" if not folder.is_dir() else "no such file in it"
        raise fail("texts", f"the folder has no texts: {folder}", expected="Markdown files, such as times.md",
                   found=lack, hint="name a file after the part that it is about", status=USAGE)  # fmt: skip
    for file in files:
        try:
            text = file.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            reason = (error.strerror if isinstance(error, OSError) else "") or error
            raise fail("texts", f"the text cannot be read: {reason}", span=Span(str(file)), status=USAGE) from None
        yield from _split_text(file, text)


def _read_stored(file: Path) -> Iterator[_Passage]:
    """Yield the texts that a build stored with its prose."""
    for name, text in (read_stored_texts(file.parent) or {}).items():
        if name.startswith(AUTHOR_TEXTS):
            part, _, block = name.removeprefix(AUTHOR_TEXTS).removesuffix(_SUFFIX).partition("/")
            yield _Passage(file, 1, part, block, text)


def _split_text(path: Path, text: str) -> Iterator[_Passage]:
    """Yield the text below each heading of a part or block, and what precedes the first; code has no headings."""
    passage = _Passage(path, 1, name_anchor(path.stem), "", "")
    lines: list[str] = []
    fence = ""  # what opened the present block of code
    for number, line in enumerate(text.splitlines(), start=1):
        if (mark := _FENCE.match(line)) and fence in ("", mark[1]):
            fence = "" if fence else mark[1]
        heading = None if fence else _HEADING.match(line)
        if heading is None:
            lines.append(line)
            continue
        yield from _end_passage(passage, lines)
        anchor = name_anchor(heading[2])
        part, block = (anchor, "") if len(heading[1]) == 1 else (passage.part, anchor)
        passage, lines = _Passage(path, number, part, block, ""), [""] * number
    yield from _end_passage(passage, lines)


def _end_passage(passage: _Passage, lines: Sequence[str]) -> Iterator[_Passage]:
    if any(line.strip() for line in lines):
        yield replace(passage, text="\n".join(lines) + "\n")


def _find_index(checked: CheckedPackage, part: Part, block: str) -> int | None:
    """Return where a text is put among the blocks of a part: before the named one, or after prose at its begin."""
    if not block:
        return next((index for index, item in enumerate(part.blocks) if not item.read_prose()), len(part.blocks))
    titles = [_name_block(checked, item) for item in part.blocks]
    return titles.index(block) if block in titles else None


def _name_block(checked: CheckedPackage, block: Block) -> str:
    """Return the anchor of a block's title: of a distribution, the name of its metric."""
    return name_anchor(checked.get_metric(block.metric).name if isinstance(block, Chart) else block.title)


def _describe_problem(
    checked: CheckedPackage, report: Report, passage: _Passage, part: Part | None, *, is_second: bool
) -> Diagnostic:
    """Return why a text has no place of its own."""
    span = Span(str(passage.path), passage.line)
    if is_second:
        message = f"the report `{report.name}` has another text for `{passage.block or passage.part}`"
        return Diagnostic("texts", message, span, expected="one text for each part or block")
    if part is None:
        names = list(dict.fromkeys(name_anchor(item.title) for item in report.parts))
        message, name = f"the report `{report.name}` has no part `{passage.part}`", passage.part
    else:
        names = [name for item in part.blocks if (name := _name_block(checked, item))]
        message, name = f"the part `{passage.part}` has no block `{passage.block}`", passage.block
    return Diagnostic(
        "texts", message, span, expected=", ".join(names) or "text without headings", hint=suggest_names(name, names)
    )
