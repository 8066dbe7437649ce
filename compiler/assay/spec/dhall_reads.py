"""Which members of its imports a Dhall text reads, told by its words alone; and a text with arguments for imports."""

from __future__ import annotations

from collections.abc import Mapping

from assay.spec.dhall_scan import ImportRef, Scan, imports


def members_read(scanned: Scan, ref: ImportRef) -> frozenset[str] | None:
    """The members that a text reads of an import: of `(./file).name`, or of `let it = ./file` where each other `it` is
    one of `it.name`; None where it may read all."""
    tokens = scanned.tokens
    index = scanned.index_at(ref.start)
    before, after = tokens[max(index - 3, 0) : index], tokens[index + 1 : index + 4]
    words = [token.text for token in before], [token.text for token in after]
    if words[0][-1:] == ["("] and words[1][:2] == [")", "."] and len(after) == 3 and after[2].kind == "label":
        return frozenset({after[2].text})
    is_bound = len(before) == 3 and words[0][0] == "let" and before[1].kind == "label" and words[0][2] == "="
    if not is_bound or words[1][:1] not in (["let"], ["in"]):
        return None
    found = set()
    for number, token in enumerate(tokens):
        if number == index - 2 or not token.names(before[1].text) or (number and tokens[number - 1].text == "."):
            continue
        following = tokens[number + 1 : number + 3]
        if len(following) < 2 or following[0].text != "." or following[1].kind != "label":
            return None
        found.add(following[1].text)
    return frozenset(found)


def can_be_argument(scanned: Scan, ref: ImportRef) -> bool:
    """Whether an argument may stand where an import does: not where its hash is demanded, nor beside another choice."""
    index = scanned.index_at(ref.start)
    following = scanned.tokens[index + 1 : index + 2]
    return not (following and following[0].kind == "hash") and all(token.text != "?" for token in scanned.tokens)


def with_arguments(scanned: Scan, types: Mapping[int, str]) -> str:
    """The text as a function of those of its imports that have a type here, by their number, in this order."""
    text = scanned.text
    found = list(enumerate(imports(scanned)))
    for number, ref in reversed(found):
        if number in types:
            text = f"{text[: ref.start]} {_name(number)} {text[ref.start + len(ref.text) :]}"
    head = "".join(f"\\({_name(number)} : {kind}) ->\n" for number, kind in types.items())
    return head + text


def _name(number: int) -> str:
    return f"`import {number}`"
