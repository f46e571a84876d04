"""The cell of a trajectory: attributes while it is fixed, else a list of updates that carry forward.

The layout cannot take a cell back. A frame without one, in a trajectory that has one, holds a box with identity
vectors that is periodic on no axis, and the per-step meta ``cell_defined`` is false, which the schema declares.
"""

from __future__ import annotations

import numpy as np

from molrec_convert.errors import RecordError
from molrec_convert.model import Box, Schema
from molrec_convert.model.box import surely_regular
from molrec_convert.model.dtypes import Array
from molrec_convert.rules import rule

from . import layout
from .chunks import ChunkQueue
from .rows import ValuesWriter
from .sections import cell_defined, checked_box, has_origin
from .tree import Group, Node, due_array, due_rows
from .updates import Updates, read_ordinals

AT_ZERO, PERIODIC = np.zeros(3), np.ones(3, bool)
"""The origin and the boundary that need not be stored."""
CELL_KEY = layout.CELL_DEFINED
"""The key that tells frames that lack a cell, in a trajectory of others that have one."""


def tells_cells_apart(schema: Schema) -> bool:
    """Whether frames may lack a cell that others have."""
    spec = schema.meta.get(CELL_KEY)
    return spec is not None and spec.tag == "bool" and spec.fill is True


class CellWriter:
    """The boxes of the frames, as far as they differ.

    Parameters
    ----------
    mixed
        Whether the schema declares the per-step key ``cell_defined``.
    """

    def __init__(self, *, mixed: bool) -> None:
        self._mixed = mixed
        self._defined = True
        self._last: Box | None = None
        self._last_bits: tuple[bytes, bytes, bytes] | None = None
        self._updates = 0
        self._starts_late = False
        self._rows: dict[str, ValuesWriter] = {
            layout.STEP_INDEX: ValuesWriter(layout.STEP_INDEX, "u64"),
            layout.VECTORS: ValuesWriter(layout.VECTORS, "f64", (3, 3)),
        }
        self._group: Group | None = None
        self._holds_attributes = False

    def prepared(self, box: Box | None) -> Box | None:
        """The box to store for a frame; None where none is due. Refuses what the layout cannot say."""
        if box is None:
            if self._last is None:
                return None
            if not self._mixed:
                raise RecordError(_advice("a frame without a box in a trajectory that has one"), place=layout.BOX)
            return Box.undefined()
        if not self._mixed and self._last is not None and box.defined != self._defined:
            raise RecordError(_advice("defined and undefined cells in one trajectory"), place=layout.BOX)
        return box

    def push(self, box: Box | None, ordinal: int) -> None:
        """Take the prepared box of a frame."""
        if box is None or box is self._last:
            return
        bits = _bits(box)
        if self._last is None:
            self._defined = box.defined or self._mixed
            self._starts_late = ordinal > 0
        elif bits == self._last_bits:
            self._last = box
            return
        self._rows[layout.STEP_INDEX].push(ordinal)
        self._rows[layout.VECTORS].push(box.vectors)
        _, origin, boundary = bits
        self._push_optional(layout.ORIGIN, box.origin, AT_ZERO, is_default=origin == AT_ZERO.tobytes())
        self._push_optional(layout.BOUNDARY, box.boundary, PERIODIC, is_default=boundary == PERIODIC.tobytes())
        self._last, self._last_bits = box, bits
        self._updates += 1

    def _push_optional(self, name: str, value: Array, default: Array, *, is_default: bool) -> None:
        if name not in self._rows:
            if is_default:
                return
            self._rows[name] = ValuesWriter(name, "bool" if default.dtype == bool else "f64", (3,))
            self._rows[name].add(np.broadcast_to(default, (self._updates, 3)))
        self._rows[name].push(value)

    def attach(self, parent: Group, hidden: list[tuple[Group, str, Node]], *, final: bool) -> None:
        """Give the cell its place in the store; what is new waits in `hidden`."""
        if not self._updates:
            return
        if self._updates == 1 and not self._starts_late:
            if self._group is None:
                self._group = parent.create_group(layout.BOX, hidden=True)
                self._holds_attributes = True
                self._store_fixed(self._group)
                hidden.append((parent, layout.BOX, self._group))
            return
        is_new = self._group is None or self._holds_attributes
        if self._group is None or self._holds_attributes:
            self._group = parent.create_group(layout.BOX, hidden=True)
            self._holds_attributes = False
            if not self._defined:
                self._group.attributes.set_scalar(layout.CELL_DEFINED, False, "bool")
            hidden.append((parent, layout.BOX, self._group))
        for name, writer in self._rows.items():
            if writer.array is None:
                array = writer.open_dense(self._group, final=final)
                if is_new:
                    self._group.publish(name, array)
                else:
                    hidden.append((self._group, name, array))

    def _store_fixed(self, group: Group) -> None:
        box = self._last
        assert box is not None
        if not self._defined:
            group.attributes.set_scalar(layout.CELL_DEFINED, False, "bool")
        group.attributes.set_values(layout.VECTORS, box.vectors)
        if has_origin(box):
            group.attributes.set_values(layout.ORIGIN, box.origin)
        if not box.boundary.all():
            group.attributes.set_values(layout.BOUNDARY, box.boundary)

    def write_tails(self, queue: ChunkQueue, *, final: bool) -> None:
        """Write the updates."""
        for writer in self._rows.values():
            if writer.array is not None:
                writer.write_tail(queue, final=final)

    def resume(self, group: Group, cells: CellUpdates) -> None:
        """Go on with a stored cell."""
        updates = len(cells.updates)
        if not updates:
            return
        self._group = group
        self._holds_attributes = cells.is_fixed
        self._defined = cells.defined
        self._starts_late = cells.updates.ordinal(0) > 0
        if cells.is_fixed:
            self.push(cells.box(0), 0)
            return
        for name in (layout.ORIGIN, layout.BOUNDARY):
            if group.child(name) is not None:
                self._rows[name] = ValuesWriter(name, "f64" if name == layout.ORIGIN else "bool", (3,))
        for name, writer in self._rows.items():
            array = group.growing(name)
            if array is not None:
                writer.resume(array, updates)
            else:  # one update in frame 0 needs no index
                writer.add(np.zeros(updates, np.uint64))
        self._last, self._updates = cells.box(updates - 1), updates
        self._last_bits = _bits(self._last)


def _bits(box: Box) -> tuple[bytes, bytes, bytes]:
    return box.vectors.tobytes(), box.origin.tobytes(), box.boundary.tobytes()


def _advice(what: str) -> str:
    return f"{what}: declare the meta key {CELL_KEY!r} as bool with the fill true"


# ---------------------------------------------------------------- reading
class CellUpdates:
    """The cell of a stored trajectory.

    Parameters
    ----------
    group
        The group ``box``.
    nstep
        The number of frames.
    """

    @rule(31)
    def __init__(self, group: Group, nstep: int) -> None:
        self.group = group
        self.defined = cell_defined(group)
        self.is_fixed = group.child(layout.VECTORS) is None
        self._boxes: dict[int, Box] = {}
        if self.is_fixed:
            self.updates = Updates.regular(min(nstep, 1), 1)
            self._boxes[0] = self._fixed()
            return
        vectors = due_array(group, layout.VECTORS, "f64", (3, 3))
        if group.child(layout.STEP_INDEX) is not None:
            self.updates = Updates.indexed(read_ordinals(group, nstep))
        elif vectors.shape[0] == 1:
            self.updates = Updates.regular(min(nstep, 1), 1)
        else:
            raise group.error(f"{vectors.shape[0]} updates of the cell without step_index")
        n = len(self.updates)
        self._vectors = due_rows(vectors, n).read(0, n)
        self._origin = self._optional(layout.ORIGIN, "f64", n)
        self._boundary = self._optional(layout.BOUNDARY, "bool", n)

    @property
    def vectors(self) -> Array:
        """f64[n][3][3]: the vectors of every update, which are columns."""
        return self._boxes[0].vectors[None] if self.is_fixed else self._vectors

    @property
    def stored_vectors(self) -> Array:
        """The vectors of every update as they stand, also where an undefined cell has others than it should."""
        if not self.is_fixed:
            return self._vectors
        found = self._fixed_part(layout.VECTORS, "f64", (3, 3))
        return np.zeros((0, 3, 3)) if found is None else found[None]

    @property
    def has_boundary(self) -> bool:
        """Whether the boundary is told, and not left to its default."""
        return self.group.child(layout.BOUNDARY) is not None or layout.BOUNDARY in self.group.attributes

    def suspects(self) -> list[int]:
        """The updates whose box may be refused; the others are right at a glance."""
        if self.is_fixed:
            return []
        if self.defined:
            wrong = ~surely_regular(self._vectors)
        else:
            wrong = np.any(np.zeros((0, 3)) if self._boundary is None else self._boundary, axis=1)
        found: list[int] = np.flatnonzero(wrong).tolist()
        return found

    def at(self, frame: int) -> Box | None:
        """The box of a frame; None before the first."""
        update = self.updates.at(frame)
        return None if update < 0 else self.box(update)

    def of(self, first: int, end: int) -> list[Box | None]:
        """The boxes of frames; the same object as long as none is set."""
        found: list[Box | None] = []
        last, box = -1, None
        for frame in range(first, end):
            update = self.updates.at(frame)
            if update != last:
                last, box = update, self.box(update)
            found.append(box)
        return found

    def box(self, update: int) -> Box:
        """The box of an update."""
        box = self._boxes.get(update)
        if box is None:
            origin = None if self._origin is None else self._origin[update]
            boundary = None if self._boundary is None else self._boundary[update]
            try:
                box = checked_box(self._vectors[update], origin, boundary, self.group, defined=self.defined)
            except RecordError as error:
                error.frame = int(self.updates.ordinal(update))
                raise
            if len(self._boxes) > 64:
                self._boxes.clear()
            self._boxes[update] = box
        return Box.of(box.vectors.copy(), box.origin.copy(), box.boundary.copy(), defined=box.defined)

    def _optional(self, name: str, dtype: str, updates: int) -> Array | None:
        if self.group.child(name) is None:
            return None
        return due_rows(due_array(self.group, name, dtype, (3,)), updates).read(0, updates)

    def _fixed(self) -> Box:
        vectors = self._fixed_part(layout.VECTORS, "f64", (3, 3))
        if vectors is None:
            raise self.group.error("an array or an attribute of vectors is due, there is none")
        origin = self._fixed_part(layout.ORIGIN, "f64", (3,))
        boundary = self._fixed_part(layout.BOUNDARY, "bool", (3,))
        return checked_box(vectors, origin, boundary, self.group, defined=self.defined)

    def _fixed_part(self, name: str, dtype: str, shape: tuple[int, ...]) -> Array | None:
        """An attribute, or an array of one update."""
        if self.group.child(name) is not None:
            array = due_array(self.group, name, dtype, shape)
            if array.shape[0] != 1:
                raise array.error(f"one update is due, found {array.shape[0]}")
            row: Array = array.read(0, 1)[0]
            return row
        if name not in self.group.attributes:
            return None
        return self.group.attributes.values(name, dtype, shape)
