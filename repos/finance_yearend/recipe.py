"""Template `finance_yearend`: a group's year-end figures (loans, fund returns, consolidation and more) from ledgers.

`make(seed, size, style)` is pure. The folder `close/` beside this file is loaded as a package under a name of its own,
since recipes are loaded by path and no parent package exists to import it from.
"""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

from simulator.core.task import Style, Task

KIND = "finance"

_HERE = Path(__file__).resolve().parent
_PACKAGE = "finance_yearend_close"


def _close() -> ModuleType:
    if _PACKAGE in sys.modules:
        return sys.modules[_PACKAGE]
    home = _HERE / "close"
    spec = importlib.util.spec_from_file_location(
        _PACKAGE, home / "__init__.py", submodule_search_locations=[str(home)]
    )
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[_PACKAGE] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[_PACKAGE]
        raise
    return module


def make(seed: int, size: str, style: Style) -> Task:
    """The task of this seed. size: "medium" (28-50 turns) or "long" (80-130)."""
    task: Task = _close().make(_HERE.name, seed, size, style)
    return task
