"""Writing LAMMPS data files: the source's own style, types, bounds and texts where the frame still agrees with them.

Reference: https://docs.lammps.org/read_data.html
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from molrec_convert.adapter import Carries, Snapshot
from molrec_convert.errors import FormatError
from molrec_convert.mapping.inverse import undone
from molrec_convert.mapping.names import REDUCED
from molrec_convert.model import Block, Column
from molrec_convert.model.dtypes import ENDPOINTS
from molrec_convert.model.precision import decimals_of
from molrec_convert.options import Options
from molrec_convert.text.table import format_table

from ._data_cell import cell_lines
from ._data_header import PLURALS, TOPOLOGY
from ._data_kinds import Kinds, masses_of
from ._data_layout import BY_TARGET, Layout, ids_of, layout_of, target_of
from ._data_styles import IMAGES, KINDS, row_of
from ._data_title import title_of
from ._data_topology import MEMBERS
from ._data_types import Masses
from ._dump_columns import SIGNED
from ._lammps import check_style, scales_of, style_to_write

Array = np.ndarray[Any, Any]
Words = tuple[Array, list[bytes]]
Printed = tuple[Array | Words, str | int | None]
Scale = Callable[[str | None], float]

FACTS = frozenset(
    (
        *("lammps_title", "lammps_header", "lammps_atom_style", "lammps_units", "lammps_bounds", "lammps_type_masses"),
        *("lammps_mass_comments", "lammps_type_labels", "lammps_coeffs_text", "lammps_sections_text"),
    )
)
"""What the importer says of a source, and is restored."""
CARRIES = Carries(
    columns=frozenset(
        (
            *BY_TARGET,
            *REDUCED.values(),
            *(name for kind in KINDS for name in kind.columns.split()),
            *("type", "label", "element", "atomic_number", "comment", SIGNED["mol"]),
        )
    ),
    other_columns=frozenset(("f64", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "string")),
    blocks=frozenset(TOPOLOGY),
    meta=FACTS,
    box=True,
    ratios=True,
    origin=True,
    no_box=None,  # LAMMPS has always a box; see `lost`
    step=True,
    nulls=True,
)  # fmt: skip


class DataExporter:
    """Writes a data file; see `molrec_convert.adapter.Exporter`."""

    def __init__(self, path: str, options: Options) -> None:
        self._path = path
        self._options = options
        check_style(options.units)

    def head(self, first: Snapshot) -> bytes:
        """Nothing stands before the only frame."""
        del first
        return b""

    def tail(self) -> bytes:
        """Nothing stands after it."""
        return b""

    def encode(self, snapshot: Snapshot, ordinal: int) -> bytes:
        """The file."""
        try:
            return self._encode(snapshot)
        except FormatError as error:
            raise FormatError(error.message, path=self._path, frame=ordinal) from None

    def _encode(self, snapshot: Snapshot) -> bytes:
        frame, about = snapshot.frame, snapshot.about
        atoms = frame["atoms"] if "atoms" in frame else Block(count=0)
        style = style_to_write(self._options.units, about.get("lammps_units"), snapshot.units)
        scale = scales_of(style, snapshot.units)
        blocks = {name: frame[name] for name in TOPOLOGY if name in frame}
        layout = layout_of(list(atoms), list(blocks), about)
        kinds = {kind: Kinds(kind, blocks.get(plural, Block(count=0)), about) for kind, plural in PLURALS.items()}
        kinds["atom"] = Kinds("atom", atoms, about)
        masses = Masses()
        if "mass" not in layout.style.columns:
            masses = masses_of(kinds["atom"], atoms, about, scale("mass"))
        ids = ids_of(atoms, bonded=any(block.count for block in blocks.values()))
        ids = _numbered(atoms) if ids is None else ids
        header = [title_of(about, snapshot.step, style), "", *_counts(atoms, blocks, kinds, about), ""]
        cell = cell_lines(frame.box, atoms, about.get("lammps_bounds"), scale("length"))
        parts = [("\n".join([*header, *cell]) + "\n").encode()]
        parts += [_labels(each) for each in kinds.values()]
        parts.append(_masses(masses))
        parts.append(_text(about.get("lammps_coeffs_text")))
        if atoms.count:
            parts += self._atoms(atoms, layout, kinds["atom"], ids, about, scale)
        for kind, name in PLURALS.items():
            if name in blocks and blocks[name].count:
                parts += self._topology(name, blocks[name], kinds[kind], ids)
        parts.append(_text(about.get("lammps_sections_text")))
        return b"".join(parts)

    # ------------------------------------------------------------ sections
    def _atoms(
        self, atoms: Block, layout: Layout, kinds: Kinds, ids: Array, about: Mapping[str, Any], scale: Scale
    ) -> list[bytes]:
        missing = [name for name in "xyz" if name not in atoms]
        if missing:
            raise FormatError(f"the atoms have no column {missing[0]}, and a data file needs positions")
        given: dict[str, Array | Words] = {"id": ids, "type": kinds.numbers}
        if kinds.labels and "lammps_type_labels" in about and "label" not in atoms:
            given["type"] = kinds.words()
        names = [*layout.style.columns, *(IMAGES if layout.images else ())]
        columns = [self._column(atoms, name, given, scale) for name in names]
        parts = [f"\nAtoms # {layout.style.name}\n\n".encode(), _table(columns, _comment(atoms))]
        if layout.velocities:
            columns = [self._column(atoms, name, given, scale) for name in ("id", *layout.velocities)]
            parts += [b"\nVelocities\n\n", _table(columns)]
        return parts

    def _topology(self, name: str, block: Block, kinds: Kinds, ids: Array) -> list[bytes]:
        ends = ENDPOINTS[: MEMBERS[name]]
        missing = [end for end in ends if end not in block]
        if missing:
            raise FormatError(f"the block {name} has no column {missing[0]}")
        ids_of_rows = ids_of(block, bonded=False)
        numbers = _numbered(block) if ids_of_rows is None else ids_of_rows
        columns: list[Printed] = [(numbers, None), (kinds.numbers, None)]
        for end in ends:
            rows = block[end]
            if len(rows) and int(rows.max()) >= len(ids):
                raise FormatError(f"{name}: row {int(rows.max())} is referred to, there are {len(ids)} atoms")
            columns.append((ids[rows.astype(np.intp)], None))
        return [f"\n{name.capitalize()}\n\n".encode(), _table(columns, _comment(block))]

    def _column(self, atoms: Block, name: str, given: Mapping[str, Array | Words], scale: Scale) -> Printed:
        if name in given:
            return given[name], None
        target = target_of(name, atoms)
        column = atoms.columns.get(target)
        if column is None:  # a molecule of bonded atoms that have none, a spin beside velocities
            return np.zeros(atoms.count, dtype=np.int32), None
        return self._printed(name, column, scale)

    def _printed(self, name: str, column: Column, scale: Scale) -> Printed:
        values = column.values
        if column.dtype == "string":
            return _words(name, values), None
        if values.dtype.kind != "f":
            values = values.astype(np.int32) if values.dtype.kind == "b" else values
            return (values if column.valid is None else np.where(column.valid, values, 0)), None
        if column.valid is not None:
            values = np.where(column.valid, values, np.nan)
        if (by := scale(row_of(name).quantity)) != 1.0:
            return undone(values, by), "g"
        if self._options.decimals is not None:
            return values, self._options.decimals
        return values, "g" if column.precision is None else decimals_of(column.precision)


def _numbered(block: Block) -> Array:
    """Ids of rows that have none: their numbers from 1."""
    return np.arange(1, block.count + 1, dtype=np.uint64)


def _counts(
    atoms: Block, blocks: Mapping[str, Block], kinds: Mapping[str, Kinds], about: Mapping[str, Any]
) -> list[str]:
    lines = [f"{atoms.count} atoms", f"{kinds['atom'].count} atom types"]
    for kind, name in PLURALS.items():
        if name in blocks:
            lines.append(f"{blocks[name].count} {name}")
        if kind != "atom" and kinds[kind].count:
            lines.append(f"{kinds[kind].count} {kind} types")
    known = about.get("lammps_header")
    other = known.get("other", []) if isinstance(known, Mapping) else []
    return [*lines, *(str(line) for line in other)]


def _labels(kinds: Kinds) -> bytes:
    table = kinds.table()
    if not table:
        return b""
    lines = "".join(f"{number} {label}\n" for number, label in table.items())
    return f"\n{kinds.kind.capitalize()} Type Labels\n\n{lines}".encode()


def _masses(masses: Masses) -> bytes:
    if not masses.values:
        return b""
    kinds = sorted(masses.values)
    numbers = format_table([np.array([masses.values[kind] for kind in kinds])], ["g"]).decode().split()
    lines = [
        f"{kind} {number}" + (f" # {masses.comments[kind]}" if kind in masses.comments else "")
        for kind, number in zip(kinds, numbers, strict=True)
    ]
    return ("\nMasses\n\n" + "\n".join(lines) + "\n").encode()


def _text(text: Any) -> bytes:
    """Sections that were kept as text."""
    return f"\n{text.rstrip()}\n".encode() if isinstance(text, str) and text.strip() else b""


def _comment(block: Block) -> Words | None:
    if "comment" not in block or block.column("comment").dtype != "string":
        return None
    words, codes = np.unique(block["comment"], return_inverse=True)
    texts = [word.replace("\r", " ").replace("\n", " ").strip() for word in words.tolist()]
    return codes.astype(np.int32), [f"# {text}".encode() if text else b"" for text in texts]


def _words(name: str, values: Array) -> Words:
    words, codes = np.unique(values, return_inverse=True)
    for word in words.tolist():
        if not word or len(word.split()) != 1 or word.startswith("#"):
            raise FormatError(f"column {name}: {word!r} is not one word, which a data file needs")
    return codes.astype(np.int32), [word.encode() for word in words.tolist()]


def _table(columns: list[Printed], comment: Words | None = None) -> bytes:
    """Lines of the columns, with their comments."""
    printed = columns if comment is None else [*columns, (comment, None)]
    text = format_table([part for part, _ in printed], [style for _, style in printed])
    return text if comment is None else text.replace(b" \n", b"\n")
