"""Kinds of blocks: what each declares, how it is checked, what it reads and where it appears.

A module defines one kind, a frozen dataclass derived from `Block`.  `assay.report.blocks` has a module of the same name
that renders it.
"""

from __future__ import annotations

import functools
import pkgutil
from collections.abc import Iterator
from importlib import import_module

from assay.lang.model.parts import Block


@functools.cache
def list_kinds() -> tuple[type[Block], ...]:
    """Return the kinds that the modules of this package define, by their names."""
    return tuple(sorted(_find_kinds(), key=lambda kind: kind.__name__))


def _find_kinds() -> Iterator[type[Block]]:
    for module in pkgutil.iter_modules(__path__, f"{__name__}."):
        for value in vars(import_module(module.name)).values():
            if isinstance(value, type) and issubclass(value, Block) and value.__module__ == module.name:
                yield value
