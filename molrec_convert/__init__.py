"""Move molecular simulation data into MolRec records and back, exactly and fast.

>>> import molrec_convert as mc
>>> mc.convert("run.lammpstrj", "run.h5")  # doctest: +SKIP
>>> mc.open("run.h5").trajectory[10]["atoms"]["x"]  # doctest: +SKIP
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .api import open, read, write
    from .comparison import Comparison, Difference, diff
    from .convert import convert
    from .errors import ConvertError, FormatError, LossError, RecordError
    from .integrations.ase_record import from_ase
    from .integrations.mda_record import from_mdanalysis
    from .model import Block, Box, Column, Frame, Meta, Record, Schema, Trajectory
    from .records.validation import Finding, validate
    from .report import Report
    from .summary import Info, info, plot

__version__ = "0.1.0"

_HOMES = {
    **dict.fromkeys(("open", "read", "write"), "api"),
    "convert": "convert",
    **dict.fromkeys(("ConvertError", "FormatError", "LossError", "RecordError"), "errors"),
    **dict.fromkeys(("Block", "Box", "Column", "Frame", "Meta", "Record", "Schema", "Trajectory"), "model"),
    "Report": "report",
    "from_ase": "integrations.ase_record",
    "from_mdanalysis": "integrations.mda_record",
    **dict.fromkeys(("Finding", "validate"), "records.validation"),
    **dict.fromkeys(("Comparison", "Difference", "diff"), "comparison"),
    **dict.fromkeys(("Info", "info", "plot"), "summary"),
}

__all__ = [
    "Block",
    "Box",
    "Column",
    "Comparison",
    "ConvertError",
    "Difference",
    "Finding",
    "FormatError",
    "Frame",
    "Info",
    "LossError",
    "Meta",
    "Record",
    "RecordError",
    "Report",
    "Schema",
    "Trajectory",
    "__version__",
    "convert",
    "diff",
    "from_ase",
    "from_mdanalysis",
    "info",
    "open",
    "plot",
    "read",
    "validate",
    "write",
]


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used, so that importing the package costs nothing."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    module = import_module(f"{__name__}.{_HOMES[name]}")
    value = getattr(module, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)


class _Package(ModuleType):
    """The package, in which ``convert`` is the function, whether or not the module of that name was imported."""

    def __setattr__(self, name: str, value: Any) -> None:
        """Set an attribute, unless the import of a module would hide a public name."""
        if name not in _HOMES or not isinstance(value, ModuleType):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package
