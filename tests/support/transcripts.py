"""Commands and what they print, in files that `pytest --accept` rewrites.

A file holds comments (`# `), then edits of specs, then commands (`$ assay ...`), each with its output below it. An edit
is a line `edit FILE`, and below it the lines of the old text (`- `) and of the new text (`+ `). Lines of stderr begin
with `! `; an exit status other than 0 is in the last line, as `[status N]`. Hashes are replaced by `<hash>`, the
paths of folders by their names in braces.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.support.commands import CommandResult, run_assay
from tests.support.laboratory import ROOT
from tests.support.workspaces import Edit

_HASH = re.compile(r"\b[0-9a-f]{40,64}\b")


@dataclass(frozen=True, slots=True)
class Transcript:
    """A file of commands: its head (comments and edits, unchanged), the edits, the commands, the whole text."""

    head: str
    edits: tuple[Edit, ...]
    commands: tuple[str, ...]
    text: str


def read_transcript(path: Path) -> Transcript:
    """Read a file, which must hold a command."""
    text = path.read_text(encoding="utf-8")
    head, mark, _ = f"\n{text}".partition("\n$ assay ")
    if not mark:
        raise ValueError(f"{path} holds no command")
    edits = (parse_edit(part) for part in re.split(r"^edit ", head, flags=re.MULTILINE)[1:])
    return Transcript(head[1:], tuple(edits), tuple(re.findall(r"^\$ assay (.*)$", text, re.MULTILINE)), text)


def parse_edit(text: str) -> Edit:
    """Parse an edit from the name of its file on."""
    file, *lines = text.strip("\n").split("\n")
    old, new = (
        "\n".join(line[2:] for line in lines if line.rstrip() == sign or line.startswith(f"{sign} ")) for sign in "-+"
    )
    return file, old, new


def run_transcript(
    transcript: Transcript, cache: Path, cwd: Path = ROOT, folders: Mapping[str, Path] | None = None
) -> str:
    """Run the commands and return the text of the file as it should be. `folders` are those named in braces."""
    places = {f"{{{name}}}": str(path) for name, path in (folders or {}).items()}
    parts = []
    for command in transcript.commands:
        words = [replace_all(word, places) for word in shlex.split(command)]
        output = "\n".join(describe_output(run_assay("--cache", cache, *words, cwd=cwd)))
        parts.append(f"$ assay {command}\n{replace_all(output, {path: name for name, path in places.items()})}\n")
    return "\n".join([transcript.head, *parts] if transcript.head else parts)


def describe_output(result: CommandResult) -> Iterator[str]:
    """Yield the lines of a command's output."""
    yield from _HASH.sub("<hash>", result.out).splitlines()
    yield from (f"! {line}".rstrip() for line in _HASH.sub("<hash>", result.err).splitlines())
    if result.status:
        yield f"[status {result.status}]"


def replace_all(text: str, replacements: Mapping[str, str]) -> str:
    """Replace every key by its value."""
    for old, new in replacements.items():
        text = text.replace(old, new)
    return text
