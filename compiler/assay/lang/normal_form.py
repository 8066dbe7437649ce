"""Write and read normal forms: a checked package as sorted YAML.

A normal form is what an auditor reads and diffs.  Empty, false and missing values are left out.
"""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Any

from assay.lang import decode
from assay.lang.checked_package import CheckedPackage, MeasureResult
from assay.lang.normal_form_header import FORMAT, hash_body
from assay.lang.plain_data import to_plain_data

_FACTOR = re.compile(r"-?[0-9]{1,400}(?:/(?!0+$)[0-9]{1,400})?")


def build_content(checked: CheckedPackage) -> dict[str, Any]:
    """Return the normal form as plain data, the hash of the sources first, parts sorted where order does not matter."""
    body = to_plain_data(checked.package)
    for item in body.get("metrics", ()):
        measured = checked.measured[item["id"]]
        item["measured"] = {"type": measured.type, "unit": measured.unit, "factor": str(measured.factor)}
        item["definition"] = checked.definitions[item["id"]]
    return {"format": FORMAT, "dhall": checked.sources, "package": body}


def format_normal_form(checked: CheckedPackage) -> str:
    """Return the normal form as YAML.  Its header has the hash of the body, so that a manual edit is detected."""
    import yaml

    class Dumper(yaml.SafeDumper):
        """Writes texts of several lines as blocks."""

    def represent_text(dumper: Any, value: str) -> Any:
        style = "|" if "\n" in value else None
        return dumper.represent_scalar("tag:yaml.org,2002:str", value, style=style)

    Dumper.add_representer(str, represent_text)
    data = build_content(checked)
    body = yaml.dump({"package": data["package"]}, Dumper=Dumper, sort_keys=False, allow_unicode=True, width=110)
    return f"format: {FORMAT}\ndhall: {checked.sources}\ncontent: {hash_body(body)}\n{body}"


def parse_normal_form(text: str, where: str) -> CheckedPackage:
    """Load the package of a normal form in YAML."""
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    return restore_package(yaml.load(text, Loader=loader), where)


def restore_package(data: dict[str, Any], where: str) -> CheckedPackage:
    """Build the package of a normal form from plain data (which is changed); `where` names its file in messages."""
    body = data["package"]
    measured, hashes = {}, {}
    for item in body.get("metrics", ()):
        entry = item.pop("measured")
        measured[item["id"]] = MeasureResult(entry["type"], entry["unit"], _parse_factor(entry["factor"]))
        hashes[item["id"]] = item.pop("definition")
    return CheckedPackage(decode.decode_package(body, where, lenient=True), measured, hashes, data["dhall"])


def _parse_factor(text: str) -> Fraction:
    """Parse a factor.  Raises ValueError for other texts, and for more digits than any factor has."""
    if not _FACTOR.fullmatch(text):
        raise ValueError(f"`{text[:40]}` is not a factor")
    return Fraction(text)
