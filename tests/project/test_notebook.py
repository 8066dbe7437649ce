"""The notebook of the docs: its cells run as they are, and print what the file has."""

from __future__ import annotations

import base64
import copy
import os
import struct
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.support.laboratory import ROOT

NOTEBOOK = ROOT / "docs" / "notebook.ipynb"
LEAST_PICTURE = (400, 200)  # pixels


def test_cells_print_what_the_notebook_has(is_accepting: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Pictures depend on the fonts of the machine: only their sizes are compared."""
    nbformat, nbclient = pytest.importorskip("nbformat"), pytest.importorskip("nbclient")
    pytest.importorskip("pandas")
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("PYTHONPATH", str(ROOT / "compiler"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    monkeypatch.setenv("JUPYTER_RUNTIME_DIR", str(tmp_path / "runtime"))
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    client = nbclient.NotebookClient(
        copy.deepcopy(notebook), timeout=120, resources={"metadata": {"path": str(tmp_path)}}
    )
    executed = client.execute()
    if is_accepting:
        executed.metadata = notebook.metadata  # that of the execution names a version of Python
        for cell in executed.cells:
            cell.metadata = {}
        nbformat.write(executed, NOTEBOOK)
        return
    assert list(_iter_outputs(executed)) == list(_iter_outputs(notebook))


def _iter_outputs(notebook: Mapping[str, Any]) -> Iterator[tuple[str, object]]:
    """Yield the kind and content of all outputs; of pictures, the size."""
    for cell in notebook["cells"]:
        for item in cell.get("outputs", ()):
            if item["output_type"] == "stream":
                yield item["name"], item["text"]
            for kind, content in sorted(item.get("data", {}).items()):
                yield kind, _read_size(content) if kind == "image/png" else content


def _read_size(content: str) -> tuple[int, int]:
    """Return the width and height of a PNG, which are enough for a chart."""
    width, height = struct.unpack(">II", base64.b64decode(content)[16:24])
    assert (width, height) >= LEAST_PICTURE
    return width, height
