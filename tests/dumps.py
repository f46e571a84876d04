"""Small LAMMPS dumps, snapshot by snapshot."""

from collections.abc import Sequence

ORTHOGONAL = ("0 10", "0 10", "0 10")
COLUMNS = "id type x y z"


def snapshot(
    rows: str | Sequence[str],
    *,
    columns: str = COLUMNS,
    step: int | str = 0,
    box: str = "BOX BOUNDS pp pp pp",
    bounds: Sequence[str] = ORTHOGONAL,
    time: str | None = None,
    units: str | None = None,
) -> str:
    """The text of one snapshot; rows may stand in one text, parted by semicolons."""
    if isinstance(rows, str):
        rows = [row.strip() for row in rows.split(";") if row.strip()]
    lines = [] if units is None else ["ITEM: UNITS", units]
    lines += [] if time is None else ["ITEM: TIME", time]
    lines += ["ITEM: TIMESTEP", str(step), "ITEM: NUMBER OF ATOMS", str(len(rows)), f"ITEM: {box}", *bounds]
    lines += [" ".join(["ITEM: ATOMS", *columns.split()]), *rows]
    return "\n".join(lines) + "\n"


def snapshots(frames: Sequence[str], **options: object) -> str:
    """Snapshots at the steps 0, 10, 20 …"""
    return "".join(snapshot(rows, step=10 * k, **options) for k, rows in enumerate(frames))  # type: ignore[arg-type]


THREE = snapshots(["1 1 1 2 3; 2 2 4 5 6", "1 1 1.5 2 3; 2 2 4.5 5 6", "1 1 1.75 2 3; 2 2 4.75 5 6"])
"""Three snapshots of two atoms; 33 lines."""
