"""Values of imports `as Location`: where an import leads, without following it."""

from __future__ import annotations

import posixpath

from assay.dhall.syntax import Target
from assay.dhall.values import ABSENT, TEXT, VAlternative, VUnionType

LOCATION = VUnionType({"Environment": TEXT, "Local": TEXT, "Missing": None, "Remote": TEXT})


def locate(importer: str, target: Target) -> VAlternative:
    """Return the location of an import of a file."""
    if target.kind == "missing":
        return VAlternative(LOCATION, "Missing", ABSENT)
    if target.kind == "env":
        return VAlternative(LOCATION, "Environment", target.parts[0])
    if target.kind in ("http", "https"):
        query = "" if target.query is None else f"?{target.query}"
        path = "/".join([target.parts[0], *_canonical(target.parts[1:])])
        return VAlternative(LOCATION, "Remote", f"{target.kind}://{path}{query}")
    return VAlternative(LOCATION, "Local", _local_path(importer, target))


def _local_path(importer: str, target: Target) -> str:
    prefix = {"absolute": "", "home": "~"}.get(target.kind)
    if prefix is not None:
        return posixpath.normpath("/".join([prefix, *target.parts]))
    folder = posixpath.dirname(importer)
    step = [".."] if target.kind == "parent" else []
    path = posixpath.normpath(posixpath.join(folder, *step, *target.parts))
    return path if path.startswith(("/", "../")) else f"./{path}"


def _canonical(parts: tuple[str, ...]) -> list[str]:
    """Return the parts of a path without `.`, and without `..` where it has a part to take away."""
    canonical: list[str] = []
    for part in parts:
        if part == ".." and canonical and canonical[-1] != "..":
            canonical.pop()
        elif part != ".":
            canonical.append(part)
    return canonical
