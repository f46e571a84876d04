"""MDAnalysis universes in memory: what stands still and what moves of one as a `Snapshot`, and back.

Reference: https://docs.mdanalysis.org/stable/documentation_pages/core/universe.html

Decisions: only attributes that were read are taken, not those that MDAnalysis guessed or made up because it cannot do
without (``SYSTEM``, one residue of number 1, residue numbers that repeat the ids). MDAnalysis keeps positions,
velocities, forces and cells in binary32: they are widened exactly, which ``floats`` in `LAYOUT` states. Its units
(ångström, ps, Å/ps, kJ/mol/Å, amu, e) are named, not converted. A cell is a, b, c, α, β, γ there: one of any
orientation is turned so that a lies along x and b in the xy plane, with positions, velocities and forces; a
left-handed one is described by a, b and -c, which is the same lattice. Positions keep their distance to the origin of
coordinates; the cell's own origin and its periodic axes, which MDAnalysis does not know, stand in ``Timestep.data`` as
``box_origin`` and ``box_boundary``.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Any

import numpy as np

from molrec_convert.adapter import Note, Snapshot
from molrec_convert.mapping.names import REDUCED
from molrec_convert.mapping.units import DIMENSIONLESS_DOCUMENT, Units
from molrec_convert.model import Block, Frame, Meta

from ._mda_bonds import blocks_of
from ._mda_cell import box_of
from ._mda_columns import columns_of
from ._mda_names import CONNECTIONS, RESIDUE, UNIT_NAMES, UNITS, VECTORS, native_units, stated_units
from ._mda_timestep import (
    ARRAYS,
    OF_ATOMS,
    Arrays,
    Scale,
    columns_of_data,
    fill_timestep,
    put_vectors,
    step_of,
    time_of,
    values_of,
    vectors_of,
)
from ._mda_topology import residues_apart, topology_of

if TYPE_CHECKING:
    from MDAnalysis import AtomGroup, Universe
    from MDAnalysis.coordinates.timestep import Timestep
    from MDAnalysis.core.topology import Topology

Array = np.ndarray[Any, Any]

FLOATS = "mda_floats"
LAYOUT = frozenset((FLOATS, RESIDUE))
"""The keys of `Snapshot.about` that `snapshot_of` sets, and a column of its own, as `Adapter.layout` takes them."""


def static_part(atoms: Universe | AtomGroup, *, guessed: bool = False, units: Units | None = UNITS) -> Snapshot:
    """What stands still: columns of ``atoms`` for the topology's attributes, and a block for each kind of connection.

    Parameters
    ----------
    atoms
        All atoms, or some of them in their order. Connections whose atoms are all among them are taken, as rows of
        this selection.
    guessed
        Take what MDAnalysis guessed, too.
    units
        The ``units`` document of its numbers. Masses and charges that are ratios stand in ``mass_lj`` and
        ``charge_lj``.

    Returns
    -------
    Snapshot
        Its frame has ``atoms`` (perhaps without columns) and ``bonds``, ``angles``, ``dihedrals``, ``impropers``,
        ``ureybradleys``, ``cmaps`` where there are any, and no positions, cell or meta. What was left out is named in
        its notes.
    """
    chosen = atoms.atoms
    notes: list[Note] = []
    columns = columns_of(chosen, guessed=guessed, notes=notes)
    columns |= residues_apart(columns, chosen.resindices)
    if units == DIMENSIONLESS_DOCUMENT:
        columns = {REDUCED.get(name, name): column for name, column in columns.items()}
    blocks = {"atoms": Block.of(columns, len(chosen)), **blocks_of(chosen, guessed=guessed, notes=notes)}
    return Snapshot(Frame.of(blocks, None, Meta()), units=units, notes=notes)


def snapshot_of(
    timestep: Timestep,
    *,
    static: Snapshot | None = None,
    rows: Array | None = None,
    per_atom: Collection[str] = (),
    units: Units | None = UNITS,
) -> Snapshot:
    """A time step as a frame; it shares no memory with it.

    Parameters
    ----------
    timestep
        With positions, velocities and forces as it has them, a cell, a time and a step.
    static
        What `static_part` gave for these atoms: its columns and blocks are joined in, the same objects for each frame.
    rows
        The atoms wanted, as the rows of the time step; by default all.
    per_atom
        Keys of ``timestep.data`` that hold a value for each atom: they become columns of ``atoms``.
    units
        The ``units`` document of its numbers; None where it is not known.

    Returns
    -------
    Snapshot
        ``step`` and ``time`` as the reader stated them, None where MDAnalysis made them up; what else stands in
        ``timestep.data`` and ``timestep.aux`` as meta. ``about`` says that the numbers were binary32.
    """
    notes: list[Note] = [] if static is None else list(static.notes)
    columns = {} if static is None else dict(static.frame["atoms"].columns)
    columns |= vectors_of(timestep, rows)
    columns |= columns_of_data(timestep, per_atom, rows)
    others = {} if static is None else {name: block for name, block in static.frame.items() if name != "atoms"}
    count = timestep.n_atoms if rows is None else len(rows)
    box = box_of(timestep.dimensions, timestep.data, notes)
    frame = Frame.of({"atoms": Block.of(columns, count), **others}, box, values_of(timestep, per_atom, notes))
    about = Meta({FLOATS: "binary32"})
    return Snapshot(frame, step_of(timestep), time_of(timestep), about, units, notes)


def to_universe(snapshot: Snapshot, *, to_guess: Collection[str] = ()) -> Universe:
    """A universe in memory, of one frame.

    Parameters
    ----------
    snapshot
        Of any origin; its known units are converted to those of MDAnalysis.
    to_guess
        What MDAnalysis may guess: by default nothing.
    """
    from MDAnalysis import Universe
    from MDAnalysis.coordinates.memory import MemoryReader

    universe = Universe(to_topology(snapshot), to_guess=tuple(to_guess))
    count = len(universe.atoms)
    universe.trajectory = MemoryReader(np.zeros((1, count, 3), np.float32))
    fill(universe.trajectory.ts, snapshot)
    return universe


def to_topology(snapshot: Snapshot) -> Topology:
    """The topology: attributes, connections, residues and segments.

    A residue ends where its number, name, insertion code, chain, segment or molecule changes; where there are only
    molecules, each is a residue, and where there is ``mda_residue``, that tells them apart. A segment ends where
    ``segid`` changes, or else ``chain``. What MDAnalysis cannot do without is made up and marked as guessed.

    Raises
    ------
    RecordError
        If there are no atoms, or an id is beyond i64.
    """
    return topology_of(snapshot.frame)


def to_arrays(snapshot: Snapshot) -> Arrays:
    """What moves, as binary32 in the units and the orientation of MDAnalysis."""
    from MDAnalysis.coordinates.timestep import Timestep

    count = snapshot.frame["atoms"].count if "atoms" in snapshot.frame else 0
    timestep = Timestep(count)
    fill(timestep, snapshot)
    arrays = {name: getattr(timestep, name) for name in ARRAYS.values() if getattr(timestep, f"has_{name}")}
    time = timestep.data.pop("time", None)
    return Arrays(**arrays, dimensions=timestep.dimensions, time=time, data=timestep.data)


def fill(timestep: Timestep, snapshot: Snapshot) -> None:
    """Put what moves into a time step of as many atoms: arrays, cell, time, and all values of the frame as data."""
    fill_timestep(timestep, snapshot.frame, Scale(snapshot.units), step=snapshot.step, time=snapshot.time)


def units_of(reader: Any) -> Units | None:
    """The ``units`` document of the numbers that a reader hands out; None where it is not known."""
    if hasattr(reader, "record_units"):
        units: Units | None = reader.record_units
        return units
    return dict(UNITS) if getattr(reader, "convert_units", True) else stated_units(reader.units)


def per_atom_of(reader: Any) -> tuple[str, ...]:
    """The keys of ``Timestep.data`` under which a reader was asked to give further columns of atoms."""
    asked = getattr(reader, "additional_columns", getattr(reader, "_additional_columns", None))
    data = reader.ts.data
    if asked is True:
        return tuple(key for key in data if isinstance(data[key], np.ndarray) and data[key].shape == (reader.n_atoms,))
    return tuple(key for key in asked or () if key in data)


__all__ = [
    "ARRAYS",
    "CONNECTIONS",
    "FLOATS",
    "LAYOUT",
    "OF_ATOMS",
    "UNITS",
    "UNIT_NAMES",
    "VECTORS",
    "Arrays",
    "Scale",
    "fill",
    "fill_timestep",
    "native_units",
    "per_atom_of",
    "put_vectors",
    "snapshot_of",
    "static_part",
    "to_arrays",
    "to_topology",
    "to_universe",
    "units_of",
]
