"""What is asked of a migration: how every file is converted, and what bounds the work."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any, Literal

from molrec_convert.errors import OptionError

Verify = Literal["full", "sample", "none"]
VERIFY: tuple[Verify, ...] = ("full", "sample", "none")
SUFFIXES = (".h5", ".mrec", ".mrec.zip")
"""The forms of the records, as their names end."""
OF_FORMATS = ("units", "atom_style", "type_map", "guess", "keep_order")
"""Options that go to the formats that take them, and mean nothing to others."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How each file is converted: as `molrec_convert.convert` takes it.

    Parameters
    ----------
    units, atom_style, type_map, guess, keep_order
        For the formats that take them.
    to_units, precision, strict
        For all files.
    suffix
        The form of the records: ``.h5``, ``.mrec`` or ``.mrec.zip``.
    """

    units: str | None = None
    atom_style: str | None = None
    type_map: Mapping[str, str] = field(default_factory=dict)
    guess: tuple[str, ...] = ()
    keep_order: bool = False
    to_units: str | None = None
    precision: float | str | Mapping[str, float] | None = None
    strict: bool = False
    suffix: str = ".h5"

    def __post_init__(self) -> None:
        if self.suffix not in SUFFIXES:
            raise OptionError(f"a form of records is one of {', '.join(SUFFIXES)}, not {self.suffix!r}")

    def check(self) -> None:
        """Refuse what no file could be converted with, before any is; `ConvertError`."""
        from molrec_convert.options import checked_guesses
        from molrec_convert.steps import Precision, to_units

        checked_guesses(self.guess)
        if self.to_units is not None:
            to_units(self.to_units)
        if self.precision is not None and not isinstance(self.precision, str):
            Precision(self.precision if isinstance(self.precision, Mapping) else {"*": self.precision})

    def as_json(self) -> dict[str, Any]:
        """The settings that are not at their defaults."""
        plain, found = Settings(), asdict(self)
        return {name: value for name, value in found.items() if value != getattr(plain, name)}

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> Settings:
        """The settings that `as_json` gave."""
        known = {each.name for each in fields(cls)}
        given: dict[str, Any] = {name: value for name, value in document.items() if name in known}
        return cls(**{**given, "guess": tuple(given.get("guess", ()))})


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What one file may take.

    Parameters
    ----------
    timeout
        Seconds after which a file is given up; 0 for none. By default ten minutes, or a second a megabyte if that is
        more.
    scratch
        Bytes of the members of archives that are unpacked at any moment; a larger member is refused.
    ratio
        How many times its own size an archive may expand to, beyond `SMALL` bytes; 0 for any.
    """

    timeout: float | None = None
    scratch: int = 64 << 30
    ratio: float = 200.0

    SMALL = 1 << 30
    """What an archive of any size may expand to."""

    def seconds_for(self, size: int) -> float | None:
        """How long a file of so many bytes may take; None for as long as it likes."""
        if self.timeout is None:
            return max(600.0, size / 1e6)
        return self.timeout or None
