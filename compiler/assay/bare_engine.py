"""The engine's library without what its package adds for queries that are written in Python: nobody here writes any,
and that takes twice as long to load as the engine.
"""

from __future__ import annotations

import importlib.util
import sys
import threading
from importlib.machinery import ModuleSpec
from types import ModuleType

PACKAGE = "duckdb"
LACKING = "__getattr__"  # what is asked for a name that a module, or a connection, lacks
VALUES = f"{PACKAGE}.value.constant"  # the part of the package whose names the engine looks for in the package itself


def load_bare() -> None:
    """Whoever imports the package from now on has the engine; what the engine does not know loads the whole package."""
    if PACKAGE not in sys.modules:
        sys.meta_path.insert(0, _Finder())


class _Finder:
    """Finds the package, once; stays in the list of finders, which other threads may be going through."""

    def __init__(self) -> None:
        self._is_used = False

    def find_spec(self, name: str, _path: object = None, _target: object = None) -> ModuleSpec | None:
        """How the package is loaded; None for every other."""
        if name != PACKAGE or self._is_used:
            return None
        self._is_used = True
        whole = importlib.util.find_spec(PACKAGE)
        if whole is None or whole.loader is None:
            return whole
        found = ModuleSpec(PACKAGE, _Loader(whole), origin=whole.origin)  # type: ignore[arg-type]
        found.submodule_search_locations = whole.submodule_search_locations
        found.has_location = whole.has_location
        return found


class _Loader:
    """Loads what the package has of the engine, and all else when it is asked for."""

    def __init__(self, whole: ModuleSpec) -> None:
        self._whole = whole
        self._filling = threading.RLock()  # loading the package asks for names that it lacks

    def create_module(self, _spec: ModuleSpec) -> None:
        """A module as any other."""

    def exec_module(self, module: ModuleType) -> None:
        """Fill the module."""
        import _duckdb

        own = vars(module)
        own |= {name: value for name, value in vars(_duckdb).items() if name not in own}

        def more(name: str) -> object:
            values = vars(importlib.import_module(VALUES))
            if name in values:
                return own.setdefault(name, values[name])
            self._fill(module)
            return getattr(module, name)

        def of_connection(connection: object, name: str) -> object:
            self._fill(module)
            return getattr(connection, name)

        own[LACKING] = more
        setattr(_duckdb.DuckDBPyConnection, LACKING, of_connection)
        try:
            _duckdb._set_arrow_sources(importlib.import_module(f"{PACKAGE}._sources"))
        except (ImportError, AttributeError):  # of another release, which tells the engine otherwise what it can read
            self._fill(module)

    def _fill(self, module: ModuleType) -> None:
        """Load the whole package once, which gives connections more to do, too; other threads wait for all of it."""
        with self._filling:
            if LACKING not in vars(module):
                return
            del vars(module)[LACKING]
            delattr(module.DuckDBPyConnection, LACKING)
            if self._whole.loader:
                self._whole.loader.exec_module(module)
