"""Small LAMMPS dumps, snapshot by snapshot."""

from collections.abc import Sequence

import numpy as np

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


def snapshots(frames: Sequence[str | Sequence[str]], **options: object) -> str:
    """Snapshots at the steps 0, 10, 20 …"""
    return "".join(snapshot(rows, step=10 * k, **options) for k, rows in enumerate(frames))  # type: ignore[arg-type]


THREE = snapshots(["1 1 1 2 3; 2 2 4 5 6", "1 1 1.5 2 3; 2 2 4.5 5 6", "1 1 1.75 2 3; 2 2 4.75 5 6"])
"""Three snapshots of two atoms; 33 lines."""

TEN = snapshots([f"1 1 {k} 0 0; 2 1 {k}.5 0 0" for k in range(10)])
"""Ten snapshots, told by the x of their first atom."""

GROWING = snapshots(["; ".join(f"{i} 1 0 0 {i}" for i in range(1, 2 + k // 2)) for k in range(6)])
"""Six snapshots of one, one, two, two, three and three atoms."""


def many(frames: int, count: int) -> str:
    """Snapshots of many atoms, with velocities and a charge that stays."""
    rng = np.random.default_rng(0)
    rows = [
        [
            f"{k + 1} 1 {x:.7f} {y:.7f} {z:.7f} {v:.5e} 0.25"
            for k, (x, y, z, v) in enumerate(rng.random((count, 4)) * 50)
        ]
        for _ in range(frames)
    ]
    return snapshots(rows, columns="id type x y z vx q")
