"""Digits that a file does not hold: named once a column, exactly where the numbers do not come back to the bit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from molrec_convert.loss import Loss
from molrec_convert.model import Column
from molrec_convert.model.precision import rounded

Array = np.ndarray[Any, Any]


class LostDigits:
    """What the numbers of frames lose in being printed; several threads may tell."""

    def __init__(self) -> None:
        self._found: dict[str, Loss] = {}

    @property
    def losses(self) -> list[Loss]:
        """The losses, in the order of their names: frames are printed in any."""
        return [self._found[item] for item in sorted(self._found)]

    def add(self, loss: Loss) -> None:
        """Name a loss; of one item the first is kept."""
        self._found.setdefault(loss.item, loss)

    def knows(self, item: str) -> bool:
        """Whether the digits of a column are named already."""
        return f"digits of {item}" in self._found

    def check(self, item: str, column: Column, read: Callable[[], Array], reason: str) -> None:
        """Name the digits of a column, unless a file gives them back.

        Parameters
        ----------
        item
            The column, such as ``atoms.x``.
        column
            As the record has it. Where it declares a precision, numbers are the same that are stored the same.
        read
            Gives what is read of the file, in the unit of the record; not asked where the loss is named already.
        reason
            Of the loss.
        """
        if self.knows(item):
            return
        values, found = column.values, read()
        if column.valid is not None:
            values, found = values[column.valid], found[column.valid]
        if column.precision is not None:
            found = rounded(found, column.precision)
        if not same_numbers(found, values):
            self.add(Loss(f"digits of {item}", reason))


def same_numbers(one: Array, other: Array) -> bool:
    """Whether reals are the same; one that is no number is the same as another such."""
    same = one == other
    return bool(same.all()) or bool((same | (np.isnan(one) & np.isnan(other))).all())
