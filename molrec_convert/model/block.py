"""A block: named columns that share a row count."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np

from molrec_convert.errors import RecordError
from molrec_convert.rules import rule

from .column import Column
from .dtypes import CANONICAL, DTYPES, Array, checked_name

RESERVED_COLUMN = "_validity"
TAKEN_COLUMNS = frozenset((RESERVED_COLUMN, "offset", "step_index"))
"""Names that columns of a trajectory cannot have, since the layout uses them; importers choose others."""


class Block(Mapping[str, Array]):
    """Named columns of one length; a mapping from a column's name to its values.

    Parameters
    ----------
    columns
        Values or `Column` by name. The order is kept and means nothing.
    count
        The number of rows; needed only without columns.
    shape
        A structural shape whose product is the count, as a grid has.
    targets
        For a column of row references, the block it refers to: ``atoms`` or ``/system/atoms``.
    attributes
        Further attributes of the block, which MolRec does not know and readers keep.

    Examples
    --------
    >>> block = Block({"element": ["O", "H"], "x": [0.0, 0.96]})
    >>> block.count, block["x"][1]
    (2, np.float64(0.96))
    """

    __slots__ = ("_columns", "_count", "attributes", "shape", "targets")

    def __init__(
        self,
        columns: Mapping[str, Any] | None = None,
        *,
        count: int | None = None,
        shape: Sequence[int] | None = None,
        targets: Mapping[str, str] | None = None,
        attributes: Mapping[str, Any] | None = None,
    ) -> None:
        self._columns: dict[str, Column] = {}
        self._count: int | None = count
        for name, values in (columns or {}).items():
            self[name] = values
        if count is not None and (isinstance(count, bool) or count < 0):
            raise RecordError(f"a block has a count of rows, not {count!r}")
        self.shape = None if shape is None else checked_shape(shape, self.count)
        self.targets: dict[str, str] = dict(targets or {})
        self.attributes: dict[str, Any] = dict(attributes or {})

    @classmethod
    def of(
        cls,
        columns: dict[str, Column],
        count: int,
        *,
        shape: tuple[int, ...] | None = None,
        targets: dict[str, str] | None = None,
        attributes: dict[str, Any] | None = None,
    ) -> Block:
        """Wrap columns that are known to be right, without a look at them."""
        made = object.__new__(cls)
        made._columns, made._count, made.shape = columns, count, shape
        made.targets, made.attributes = targets or {}, attributes or {}
        return made

    @property
    def count(self) -> int:
        """The number of rows."""
        return self._count or 0

    @property
    def columns(self) -> Mapping[str, Column]:
        """The columns themselves, with their masks and precisions; read-only."""
        return MappingProxyType(self._columns)

    def column(self, name: str) -> Column:
        """The column of this name; `KeyError` if there is none."""
        return self._columns[name]

    def __getitem__(self, name: str) -> Array:
        return self._columns[name].values

    def __setitem__(self, name: str, values: Any) -> None:
        """Set a column from values or a `Column`; `RecordError` where MolRec does not allow it."""
        if name == RESERVED_COLUMN:
            raise RecordError("a column cannot be called '_validity': the masks are kept there")
        try:
            column = values if isinstance(values, Column) else _column(name, values)
            check_canonical(checked_name(name, "a column"), column.dtype, column.trailing)
        except RecordError as error:
            raise RecordError(f"column {name!r}: {error.message}") from None
        others = [kept for kept in self._columns if kept != name]
        if (others or self._count is not None) and len(column) != self.count:
            raise RecordError(f"column {name!r} has {len(column)} rows, its block {self.count}")
        self._columns[name] = column
        self._count = len(column)

    def __delitem__(self, name: str) -> None:
        del self._columns[name]

    def __contains__(self, name: object) -> bool:
        return name in self._columns

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        return len(self._columns)

    def rows(self, index: Any) -> Block:
        """The rows that a numpy index picks, as a plain table; references to other blocks stay as they are."""
        columns = {name: column.rows(index) for name, column in self._columns.items()}
        made = Block(columns, targets=self.targets, attributes=self.attributes)
        if not columns:
            made._count = 0
        return made

    def same(self, other: Block) -> bool:
        """Whether both hold the same bits in the same columns, whatever the columns' order."""
        return (
            self.count == other.count
            and self.shape == other.shape
            and self.targets == other.targets
            and self.attributes == other.attributes
            and self._columns.keys() == other._columns.keys()
            and all(column.same(other._columns[name]) for name, column in self._columns.items())
        )

    def __repr__(self) -> str:
        shape = "" if self.shape is None else " as " + "×".join(map(str, self.shape))
        return f"Block({self.count} rows{shape}: {', '.join(self._columns) or 'no columns'})"

    def _repr_html_(self) -> str:
        from .view import block_html

        return block_html(self)


def _column(name: str, values: Any) -> Column:
    """A column of values; plain Python integers take the type that MolRec fixes for the name, where that is exact."""
    column = Column(values)
    due = CANONICAL.get(name)
    if due is None or isinstance(values, np.ndarray | np.generic) or column.values.dtype.kind not in "iu":
        return column
    wanted = column.values.astype(DTYPES[due]) if due not in ("bool", "string") else column.values
    same = np.array_equal(wanted.astype(column.values.dtype), column.values) and (
        wanted.dtype.kind != "u" or not (column.values < 0).any()
    )
    return Column.of(wanted) if same else column


def check_canonical(name: str, dtype: str, trailing: Sequence[int]) -> None:
    """Refuse a name that MolRec fixes at another type or shape (conventions chapter)."""
    due = CANONICAL.get(name)
    if due is not None and (dtype != due or trailing):
        axes = "".join(f"[{n}]" for n in trailing)
        raise RecordError(f"{name} is {due}[N], not {dtype}[N]{axes}", rule=18 if dtype != due else 17)


@rule(5)
def checked_shape(shape: Sequence[int], count: int) -> tuple[int, ...]:
    """Give a structural shape as a tuple; `RecordError` unless its product is the count."""
    axes = tuple(int(n) for n in shape)
    if not axes or min(axes) < 0 or math.prod(axes) != count:
        raise RecordError(f"the structural shape {list(axes)} does not hold {count} rows")
    return axes
