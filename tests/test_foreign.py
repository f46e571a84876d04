"""What is no file of a format, or claims to be a huge one: it is refused, at once, by every adapter."""

import time
import tracemalloc
from collections.abc import Mapping, Sequence

import numpy as np
import pytest

import molrec_convert as mc
from molrec_convert import registry
from molrec_convert.errors import ConvertError
from molrec_convert.sniff import HEAD

from .binaries import COSINES, dcd, points, trr_frame
from .converting import source_of

ADAPTERS = registry.adapters()
READERS = [adapter for adapter in ADAPTERS if adapter.importer is not None]
by_adapter = pytest.mark.parametrize("adapter", READERS, ids=lambda adapter: adapter.name)

FOREIGN = {
    "nothing": b"",
    "a line end": b"\n",
    "line ends": b"\n" * 1000,
    "a carriage return": b"\r",
    "a NUL": b"\0",
    "NULs": bytes(5000),
    "random bytes": np.random.default_rng(1).bytes(20_000),
    "HDF5": b"\x89HDF\r\n\x1a\n" + bytes(2000),
    "PNG": b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + bytes(range(256)) * 8,
    "zip": b"PK\x03\x04" + bytes(range(256)) * 8,
    "a BOM": b"\xef\xbb\xbf",
    "UTF-16": "ITEM: TIMESTEP\n0\n".encode("utf-16"),
    "prose": b"It was a dark and stormy night.\n" * 50,
    "numbers": b"1 2 3\n4 5 6\n" * 200,
    "one number": b"3",
    "a negative number": b"-3\ncomment\n",
    "a long word": b"a" * 200_000,
    "XML": b'<?xml version="1.0"?>\n<a b="c"/>\n',
    "JSON": b'{"a": [1, 2, 3]}\n',
    "CIF": b"data_x\nloop_\n_atom_site.id\n_atom_site.x\n1 2\n",
}


@pytest.mark.parametrize("name", FOREIGN)
def test_foreign_bytes_are_not_recognised(name):
    recognised = [adapter.name for adapter in ADAPTERS if adapter.sniff is not None and adapter.sniff(FOREIGN[name])]
    assert recognised == []


@by_adapter
@pytest.mark.parametrize("name", FOREIGN)
def test_foreign_bytes_are_refused(adapter, name, tmp_path):
    """With an error that has the file, whatever the bytes."""
    source = source_of(tmp_path, FOREIGN[name], "what")
    with pytest.raises(ConvertError) as caught:
        mc.convert(source, tmp_path / "out.h5", from_format=adapter.name)
    assert caught.value.path is not None
    assert [path.name for path in tmp_path.iterdir()] == ["what"]


@by_adapter
@pytest.mark.parametrize(("byte", "count"), [(b" ", 10**7), (b"\t", 10**7), (b"0", 10**7), (b"\n", 10**6)])
def test_megabytes_of_one_byte(adapter, byte, count, tmp_path):
    """They are not recognised, and refused at once."""
    data = byte * count
    begun = time.perf_counter()
    assert adapter.sniff is None or not adapter.sniff(data[:HEAD])
    with pytest.raises(ConvertError):
        mc.convert(source_of(tmp_path, data, "what"), tmp_path / "out.h5", from_format=adapter.name)
    assert time.perf_counter() - begun < 3.0


BILLION = 10**9
CLAIMS: Mapping[str, Sequence[str | bytes]] = {
    "xyz": [f"{BILLION}\ncomment\nH 0 0 0\n"],
    "lammps-dump": [
        f"ITEM: TIMESTEP\n0\nITEM: NUMBER OF ATOMS\n{BILLION}\nITEM: BOX BOUNDS pp pp pp\n0 1\n0 1\n0 1\n"
        "ITEM: ATOMS id type x y z\n1 1 0 0 0\n"
    ],
    "lammps-data": [
        f"title\n\n{BILLION} atoms\n1 atom types\n\n0 1 xlo xhi\n\nAtoms # atomic\n\n1 1 0 0 0\n",
        f"title\n\n1 atoms\n1 atom types\n{BILLION} bonds\n1 bond types\n\n0 1 xlo xhi\n\n"
        "Atoms # bond\n\n1 1 1 0 0 0\n\nBonds\n\n1 1 1 1\n",
    ],
    "cube": [
        f"a\nb\n{BILLION} 0 0 0\n1 1 0 0\n1 0 1 0\n1 0 0 1\n1 1 0 0 0\n",
        "a\nb\n1 0 0 0\n1000 1 0 0\n1000 0 1 0\n1000 0 0 1\n1 1 0 0 0\n1 2 3\n",
        f"a\nb\n1 0 0 0 {BILLION}\n1 1 0 0\n1 0 1 0\n1 0 0 1\n1 1 0 0 0\n1 2 3\n",
        f"a\nb\n-1 0 0 0\n1 1 0 0\n1 0 1 0\n1 0 0 1\n1 1 0 0 0\n{BILLION} 1\n1 2 3\n",
    ],
    "gro": [f"title\n{BILLION}\n    1SOL     OW    1   0.126   1.624   1.679\n"],
    "pdb": [f"NUMMDL    {BILLION}\nMODEL {BILLION}\nATOM      1\n"],
    "dcd": [
        dcd([points(3)], atoms=BILLION),
        dcd([points(3)], atoms=BILLION, cells=[COSINES]),
        dcd([points(3)], atoms=BILLION, free=[0, 1]),
    ],
    "trr": [
        trr_frame(points(3), atoms=BILLION),
        trr_frame(points(3), atoms=BILLION // 10, sizes={"x": 12 * BILLION // 10}),
        trr_frame(points(3), box=None, atoms=BILLION // 10, sizes={"x": 24 * BILLION // 20}),
    ],
}
"""Files whose headers say that they are very long, by format."""


@pytest.mark.parametrize(("name", "claim"), [(name, claim) for name, claims in CLAIMS.items() for claim in claims])
def test_a_claim_costs_nothing(name, claim, tmp_path):
    source = source_of(tmp_path, claim, "what")
    begun = time.perf_counter()
    tracemalloc.start()
    try:
        with pytest.raises(ConvertError) as caught:
            mc.convert(source, tmp_path / "out.h5", from_format=name)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert (caught.value.line is not None) == isinstance(claim, str)
    assert peak < 20 << 20
    assert time.perf_counter() - begun < 2.0


def test_every_reader_is_asked():
    assert {adapter.name for adapter in READERS} == set(CLAIMS)
