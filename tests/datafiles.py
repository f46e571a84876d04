"""Small LAMMPS data files, section by section."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from molrec_convert.adapter import Snapshot, Span
from molrec_convert.adapters.lammps_data import FORMAT
from molrec_convert.errors import located
from molrec_convert.model import Block, Box, Frame, Meta
from molrec_convert.options import Options

BOX = "0 10 xlo xhi\n0 10 ylo yhi\n0 10 zlo zhi\n"
PLURALS = {"Atoms": "atoms", "Bonds": "bonds", "Angles": "angles", "Dihedrals": "dihedrals", "Impropers": "impropers"}


def rows_of(text: str) -> list[str]:
    """Rows that stand in one text, parted by semicolons."""
    return [row.strip() for row in text.split(";") if row.strip()]


def data_file(
    atoms: str = "1 1 1 2 3",
    *,
    style: str | None = "atomic",
    title: str = "title",
    types: int = 1,
    header: str = "",
    box: str = BOX,
    sections: Mapping[str, str] | None = None,
    before: Mapping[str, str] | None = None,
) -> str:
    """The text of a file: its header, sections before the atoms, the atoms, sections after them."""
    parts = {**(before or {}), "Atoms" if style is None else f"Atoms # {style}": atoms, **(sections or {})}
    counts = [
        f"{len(rows_of(rows))} {PLURALS[name.split(' #')[0]]}\n"
        for name, rows in parts.items()
        if name.split(" #")[0] in PLURALS
    ]
    text = f"{title}\n\n{''.join(counts)}{types} atom types\n{header}\n{box}"
    return text + "".join("\n" + "\n".join([name, "", *rows_of(rows)]) + "\n" for name, rows in parts.items())


WATER = data_file(
    "3 7 2 0.4 1.0 2.5 3.0 0 0 1; 1 7 1 -0.8 1.0 2.0 3.0 0 -1 0; 2 7 2 0.4 1.5 2.0 3.0 0 0 0",
    style="full",
    title="LAMMPS data file via write_data, version 22 Jul 2025, timestep = 70, units = real",
    types=3,
    header="1 bond types\n2 angle types\n2 extra bond per atom\n",
    before={
        "Atom Type Labels": "1 OW; 2 HW; 3 Na+",
        "Bond Type Labels": "1 O-H",
        "Masses": "1 15.9994; 2 1.008 # light; 3 22.98",
        "Pair Coeffs # lj/cut": "1 0.1 3.4; 2 0.0 0.0; 3 1 2",
        "Bond Coeffs # harmonic": "O-H 300.0 1.5",
    },
    sections={
        "Velocities": "1 0.1 0.2 0.3; 3 -1 -2 -3; 2 4 5 6",
        "Bonds": "1 O-H 1 2; 2 1 1 3 # the other",
        "Angles": "1 2 2 1 3",
        "CMAP": "1 1 8 10 12 18 20",
    },
)
"""A file of nearly all that there is; 3 atoms."""


@dataclass
class Decoded:
    """A snapshot, and what one asks of it."""

    snapshot: Snapshot

    @property
    def frame(self) -> Frame:
        """The frame."""
        return self.snapshot.frame

    @property
    def atoms(self) -> Block:
        """Its atoms."""
        return self.frame["atoms"]

    @property
    def box(self) -> Box:
        """Its cell."""
        assert self.frame.box is not None
        return self.frame.box

    @property
    def about(self) -> Meta:
        """What is known of the source."""
        return self.snapshot.about

    @property
    def units(self) -> Mapping[str, str]:
        """Its units."""
        assert self.snapshot.units is not None
        return self.snapshot.units

    @property
    def warnings(self) -> list[str]:
        """What was noticed."""
        return [located(note.message, path="in.data", line=note.line) for note in self.snapshot.notes]

    def values(self, name: str) -> list[Any]:
        """A column of atoms; None where a row is null."""
        column = self.atoms.column(name)
        values: list[Any] = column.values.tolist()
        if column.valid is None:
            return values
        return [value if there else None for value, there in zip(values, column.valid, strict=True)]


def decoded(text: str | bytes, **options: Any) -> Decoded:
    """What the importer makes of a text, without a file and a record."""
    data = text.encode() if isinstance(text, str) else text
    assert FORMAT.importer is not None
    return Decoded(FORMAT.importer("in.data", Options(**options)).decode(Span(0, 1, 0, len(data), None, data)))


def encoded(snapshot: Snapshot, **options: Any) -> str:
    """What the exporter makes of a snapshot."""
    assert FORMAT.exporter is not None
    tags = {**snapshot.frame.meta.tags, **snapshot.about.tags}
    about = Meta({**snapshot.frame.meta, **snapshot.about}, tags=tags)
    given = Snapshot(snapshot.frame, snapshot.step, snapshot.time, about, snapshot.units)
    text: bytes = FORMAT.exporter("out.data", Options(**options)).encode(given, 0)
    return text.decode()
