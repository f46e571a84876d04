"""DCD and TRR files made by hand, from what the formats say: nothing here shares code with the adapters."""

import struct
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]

NAMD = "REMARKS FILENAME=x.dcd CREATED BY NAMD"
CHARMM = "* A TITLE OF CHARMM"
COSINES = (10.0, 0.5, 12.0, 0.25, -0.125, 14.0)
"""A cell of A = 10, B = 12, C = 14 and cosines of γ, β, α."""


def points(count: int, frame: int = 0) -> Array:
    """Positions f32[N][3] that tell atom, axis and frame apart."""
    rows = np.arange(count, dtype=np.float32)[:, None]
    found: Array = rows + np.array([0.125, 100.25, -200.5], np.float32) + np.float32(1000.0 * frame)
    return found


def dcd(
    frames: Sequence[Array],
    *,
    order: str = "<",
    width: int = 4,
    kind: bytes = b"CORD",
    nset: int | None = None,
    istart: int = 0,
    nsavc: int = 1,
    delta: float = 0.0,
    version: int = 24,
    title: str | bytes = NAMD,
    cells: Sequence[Sequence[float]] | None = None,
    cell_flag: bool | None = None,
    free: Sequence[int] | None = None,
    fourth: Sequence[Array] | None = None,
    atoms: int | None = None,
    ndegf: int = 0,
    title_marker: int | None = None,
) -> bytes:
    """A DCD file of frames f32[N][3]; with `free` (0-based rows), the frames after the first hold these alone."""
    count = len(frames[0]) if atoms is None else atoms

    def marker(size: int) -> bytes:
        return struct.pack(order + ("I" if width == 4 else "Q"), size)

    def record(data: bytes, stated: int | None = None) -> bytes:
        size = len(data) if stated is None else stated
        return marker(size) + data + marker(size)

    control = [0] * 20
    control[:4] = [len(frames) if nset is None else nset, istart, nsavc, len(frames) * nsavc]
    control[7], control[8] = ndegf, 0 if free is None else count - len(free)
    control[19] = version
    if version:
        control[10] = int(cells is not None if cell_flag is None else cell_flag)
        control[11] = int(fourth is not None)
    head = bytearray(kind + struct.pack(f"{order}20i", *control))
    struct.pack_into(order + ("f" if version else "d"), head, 40, delta)
    lines = title if isinstance(title, bytes) else b"".join(line.encode().ljust(80) for line in title.split("\n"))
    parts = [record(bytes(head)), record(struct.pack(order + "i", len(lines) // 80) + lines, title_marker)]
    parts.append(record(struct.pack(order + "i", count)))
    if free is not None:
        parts.append(record((np.array(free) + 1).astype(order + "i4").tobytes()))
    for k, frame in enumerate(frames):
        if cells is not None:
            parts.append(record(struct.pack(order + "6d", *cells[k])))
        rows = slice(None) if free is None or not k else list(free)
        axes = [*frame.T, *([fourth[k]] if fourth is not None else [])]
        parts += [record(axis[rows].astype(order + "f4").tobytes()) for axis in axes]
    return b"".join(parts)


def trr_frame(
    x: Array | None = None,
    v: Array | None = None,
    f: Array | None = None,
    *,
    width: int = 4,
    box: Any = ((2.0, 0.0, 0.0), (0.0, 3.0, 0.0), (0.0, 0.0, 4.0)),
    step: int = 0,
    time: float = 0.0,
    coupling: float = 0.0,
    virial: Array | None = None,
    pressure: Array | None = None,
    atoms: int | None = None,
    nre: int = 0,
    text: bytes = b"GMX_trn_file",
    sizes: Mapping[str, int] | None = None,
) -> bytes:
    """A frame of a TRR file; vectors and the cell in nm, and sizes that are to be stated otherwise."""
    count = next((len(each) for each in (x, v, f) if each is not None), 0) if atoms is None else atoms
    blocks = {"box": box, "vir": virial, "pres": pressure, "x": x, "v": v, "f": f}
    data = {
        name: b"" if each is None else np.asarray(each).astype(f">f{width}").tobytes() for name, each in blocks.items()
    }
    stated = {name: len(each) for name, each in data.items()} | dict(sizes or {})
    names = ("ir", "e", "box", "vir", "pres", "top", "sym", "x", "v", "f")
    integers = [stated.get(name, 0) for name in names] + [count, step, nre]
    return b"".join(
        (
            struct.pack(">3i", 1993, len(text) + 1, len(text)),
            text + bytes(-len(text) % 4),
            struct.pack(">13i", *integers),
            struct.pack(">2f" if width == 4 else ">2d", time, coupling),
            *data.values(),
        )
    )
