"""A column: a typed array whose first axis is the rows of its block, with a validity mask and a declared precision."""

from __future__ import annotations

from typing import Any

import numpy as np

from molrec_convert.errors import RecordError

from .dtypes import Array, as_array, dtype_name, same_bits
from .precision import checked_precision, rounded


class Column:
    """A typed array of shape ``[N]`` or ``[N][…]``, one entry a row.

    Parameters
    ----------
    values
        Anything that `numpy.asarray` takes, of one of the thirteen MolRec types. Text becomes `StringDType`.
    valid
        bool ``[N]``, false where a row holds no value. A mask without a false is no mask.
    precision
        Absolute tolerance in the column's own unit; f64 only. The values are stored as MolRec's rounding demands.

    Raises
    ------
    RecordError
        For another type (binary32 included), a mask of another type or length, a precision that is not allowed.
    """

    __slots__ = ("precision", "valid", "values")

    def __init__(self, values: Any, *, valid: Any = None, precision: float | None = None) -> None:
        array = as_array(values)
        if array.ndim == 0:
            raise RecordError("a column has one value a row, not a single value")
        if precision is not None:
            if array.dtype != np.float64:
                raise RecordError(f"only an f64 column declares a precision, not {dtype_name(array.dtype)}")
            precision = checked_precision(precision)
            array = rounded(array, precision)
        self.values: Array = array
        self.valid: Array | None = None if valid is None else _mask(valid, len(array))
        self.precision: float | None = precision

    @classmethod
    def of(cls, values: Array, valid: Array | None = None, precision: float | None = None) -> Column:
        """Wrap arrays that are known to be right, without a look at their values."""
        made = object.__new__(cls)
        made.values, made.valid, made.precision = values, valid, precision
        return made

    @property
    def dtype(self) -> str:
        """The MolRec name of the element type, such as ``f64``."""
        return dtype_name(self.values.dtype)

    @property
    def trailing(self) -> tuple[int, ...]:
        """The axes after the first."""
        axes: tuple[int, ...] = self.values.shape[1:]
        return axes

    def __len__(self) -> int:
        return len(self.values)

    def rows(self, index: Any) -> Column:
        """The rows that a numpy index of the first axis picks."""
        valid = None if self.valid is None else self.valid[index]
        if valid is not None and valid.all():
            valid = None
        return Column.of(np.ascontiguousarray(self.values[index]), valid, self.precision)

    def same(self, other: Column) -> bool:
        """Whether both hold the same bits, masks and precision."""
        if self is other:
            return True
        if (self.valid is None) != (other.valid is None) or self.precision != other.precision:
            return False
        if self.valid is not None and other.valid is not None and not np.array_equal(self.valid, other.valid):
            return False
        return same_bits(self.values, other.values)

    def __repr__(self) -> str:
        return f"Column({self.describe()}: {_head(self.values)})"

    def describe(self) -> str:
        """The type, shape, nulls and precision, as in ``f64[N][3], 2 null, precision 0.001``."""
        facts = [f"{self.dtype}[N]" + "".join(f"[{n}]" for n in self.trailing)]
        if self.valid is not None:
            facts.append(f"{len(self) - int(np.count_nonzero(self.valid))} null")
        if self.precision is not None:
            facts.append(f"precision {self.precision:g}")
        return ", ".join(facts)


def _mask(valid: Any, rows: int) -> Array | None:
    mask = np.asarray(valid)
    if mask.dtype != np.bool_ or mask.shape != (rows,):
        raise RecordError(f"a mask is bool[{rows}], not {mask.dtype} of shape {mask.shape}")
    return None if mask.all() else np.ascontiguousarray(mask)


def _head(values: Array, most: int = 4) -> str:
    shown = " ".join(str(value) for value in values[:most].tolist())
    return f"{shown} …" if len(values) > most else shown
