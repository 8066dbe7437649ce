"""Write JUnit XML files, which systems of continuous integration display."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import click

from assay.util.diagnostics import fail
from assay.util.escape import escape_lines

add_junit_option = click.option(
    "--junit", metavar="FILE", type=click.Path(path_type=Path), help="Also write the results to this file as JUnit XML."
)


def write_junit(place: Path, root: ElementTree.Element) -> None:
    """Write suites of test cases to a file.

    XML cannot represent most control characters; they are escaped as on a terminal. Raises AssayError if the file
    cannot be written.
    """

    for element in root.iter():
        element.attrib.update({name: escape_lines(text) for name, text in element.attrib.items()})
        element.text = escape_lines(element.text) if element.text else None
    ElementTree.indent(root)
    try:
        ElementTree.ElementTree(root).write(place, encoding="utf-8", xml_declaration=True)
    except OSError as error:
        raise fail("output", f"the file cannot be written: {error.strerror}: {place}") from None
