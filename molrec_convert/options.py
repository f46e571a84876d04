"""What a person may ask of a conversion, apart from the formats and the frames."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, fields

from .errors import OptionError

GUESSES = frozenset(("elements",))
"""What can be guessed, on request."""


def checked_guesses(asked: Collection[str]) -> frozenset[str]:
    """What may be guessed; `OptionError` for anything that cannot."""
    asked = [asked] if isinstance(asked, str) else asked
    if unknown := sorted(set(asked) - GUESSES):
        raise OptionError(f"--guess takes {', '.join(sorted(GUESSES))}, not {unknown[0]!r}")
    return frozenset(asked)


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """The options that adapters look at; each adapter names those that it takes.

    Parameters
    ----------
    units
        The unit style of a file that does not state it, such as ``real``.
    atom_style
        The columns of a file that does not state them: a style such as ``full``, or names of columns.
    type_map
        The element of every type number or label, such as ``{"1": "Si"}``.
    guess
        What may be guessed where a file does not say: ``elements``, from the names of atoms.
    keep_order
        Keep the rows in the file's order, where the format's order means nothing.
    unwrap
        Add the periodic images to the positions.
    strict
        Refuse what is otherwise repaired or left out with a warning.
    decimals
        Decimals of the reals in a text target; by default the fewest digits that read back exactly.
    plain
        Write the simplest form of a text target that has several.
    sample_decimals
        Look for the number of decimals of the columns of a text source.
    """

    units: str | None = None
    atom_style: str | None = None
    type_map: Mapping[str, str] = field(default_factory=dict)
    guess: frozenset[str] = frozenset()
    keep_order: bool = False
    unwrap: bool = False
    strict: bool = False
    decimals: int | None = None
    plain: bool = False
    sample_decimals: bool = False

    def __post_init__(self) -> None:
        # In Python people name types by number.
        object.__setattr__(self, "type_map", {str(key): element for key, element in self.type_map.items()})

    def given(self) -> dict[str, object]:
        """The options that are not at their defaults."""
        plain = Options()
        return {
            option.name: value
            for option in fields(self)
            if (value := getattr(self, option.name)) != getattr(plain, option.name)
        }
