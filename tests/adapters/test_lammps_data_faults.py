"""LAMMPS data: what is refused, and with which words."""

import random
import re

import pytest

from molrec_convert.convert import convert
from molrec_convert.errors import ConvertError, FormatError, OptionError, TruncatedError

from ..converting import left_behind
from ..datafiles import BOX, WATER, data_file, decoded, encoded

MUTATIONS = 500
PIECES = (b"nan", b"-1", b"0", b"99999999999999999999", b"1e400", b"#", b"\n", b"\r\n", b"\t", b"Atoms", b"Bonds # x",
          b"abc", b"1.5", b"\xff", b"\x00", b"\n\n", b"1000000000 atoms\n", b"Masses\n\n", b"hybrid", b"xlo xhi",
          b"avec", b"4611686018427387904", b"-9223372036854775808")  # fmt: skip

FAULTS = {
    "nothing": ("", "in.data:1: a line such as '100 atoms' is due in the header"),
    "no count": ("t\n\nAtoms\n\n1 1 1 2 3\n", "in.data:3: a line such as '100 atoms' is due in the header"),
    "no title": (
        "1 atoms\n1 atom types\n\nAtoms\n\n1 1 1 2 3\n",
        "in.data:4: the first line is a title and counts for nothing: a line such as '100 atoms' is due in the header",
    ),
    "NUL": (data_file().replace("Atoms", "At\0oms"), "in.data:10: a NUL byte: this is no text"),
    "count of words": (data_file(header="x bonds"), "in.data:5: the number of bonds: 'x' is not an integer"),
    "no header line": (
        data_file(header="x y"),
        "in.data:5: 'x y' is neither a line of the header nor the name of a section",
    ),
    "count of reals": (data_file(header="1.5 bonds"), "in.data:5: the number of bonds: '1.5' is not an integer"),
    "negative count": (data_file(header="-1 bonds"), "in.data:5: the number of bonds is -1"),
    "two counts": (data_file(header="1 2 bonds"), "in.data:5: one number of bonds is due, not 2"),
    "count twice": (data_file(header="2 atoms"), "in.data:5: the number of atoms comes twice"),
    "bounds": (data_file(box="0 x xlo xhi\n"), "in.data:6: xlo xhi: 'x' is not a number"),
    "one bound": (data_file(box="0 xlo xhi\n"), "in.data:6: 2 numbers are due before xlo xhi, not 1"),
    "bad bound": (data_file(box="0 1_0 xlo xhi\n"), "in.data:6: xlo xhi: '1_0' is not a number"),
    "infinite bound": (data_file(box="0 +inf xlo xhi\n"), None),
    "bounds upside down": (
        data_file(box="10 0 xlo xhi\n"),
        "in.data:6: xlo xhi: the upper bound 0.0 is below the lower 10.0",
    ),
    "one vector": (data_file(box="1 0 0 avec\n"), "in.data:8: the header has no line of bvec"),
    "no origin": (
        data_file(box="1 0 0 avec\n0 1 0 bvec\n0 0 1 cvec\n"),
        "in.data:10: the header has no line of abc origin",
    ),
    "flat cell": (
        data_file(box="1 0 0 avec\n2 0 0 bvec\n0 0 1 cvec\n0 0 0 abc origin\n"),
        "in.data:11: the cell vectors [[1.0, 0.0, 0.0], [2.0, 0.0, 0.0], [0.0, 0.0, 1.0]] do not span space",
    ),
    "no section": ("t\n\n1 atoms\n", "in.data:4: the header says 1 atoms, there is no section Atoms"),
    "section twice": (
        data_file(before={"Masses": "1 1"}, sections={"Masses ": "1 1"}),
        "in.data:18: the section Masses comes twice",
    ),
    "fewer atoms": (
        data_file("1 1 1 2 3; 2 1 1 2 3").replace("2 atoms", "3 atoms"),
        "in.data:10: the header says 3 atoms, the section Atoms has 2",
    ),
    "more atoms": (
        data_file("1 1 1 2 3; 2 1 1 2 3").replace("2 atoms", "1 atoms"),
        "in.data:10: the header says 1 atoms, the section Atoms has 2",
    ),
    "fewer atoms before a section": (
        data_file("1 1 1 2 3", sections={"Velocities": "1 1 1 1"}).replace("1 atoms", "2 atoms"),
        "in.data:10: the header says 2 atoms, the section Atoms has 1",
    ),
    "very many atoms": (
        data_file().replace("1 atoms", "999999999999 atoms"),
        "in.data:10: the header says 999999999999 atoms, the section Atoms has 1",
    ),
    "fewer masses": (
        data_file(types=3, before={"Masses": "1 1"}),
        "in.data:10: the header says 3 atom types, the section Masses has 1",
    ),
    "fewer bonds": (
        data_file("1 1 1 1 2 3", style="bond", sections={"Bonds": "1 1 1 1"}).replace("1 bonds", "2 bonds"),
        "in.data:15: the header says 2 bonds, the section Bonds has 1",
    ),
    "word for a number": (data_file("1 1 1 2 x"), "in.data:12: column z: 'x' is not a number"),
    "comma": (data_file("1 1 1,5 2 3"), "in.data:12: column x: '1,5' is not a number"),
    "missing word": (
        data_file("1 1 1 2 3; 2 1 4 5"),
        "in.data:13: a line of Atoms has 5 columns, this one 4",
    ),
    "missing word in the first line": (
        data_file("1 1 1 2"),
        "in.data:12: a line of atom style atomic has 5 columns, or 3 more with images, this one 4",
    ),
    "images on some lines": (
        data_file("1 1 1 2 3 0 0 0; 2 1 4 5 6"),
        "in.data:13: a line of Atoms has 8 columns, this one 5",
    ),
    "another style": (
        data_file("1 1 1 2 3 0.6 0.8 0 5", style="atomic"),
        "in.data:12: a line of atom style atomic has 5 columns, or 3 more with images, this one 9; "
        "dipole and spin have as many: say --atom-style",
    ),
    "a style unsaid": (
        data_file("1 1 1 1 2 3; 2 1 1 4 5 6", style=None),
        "in.data:10: the section Atoms does not say its atom style, its lines may be of charge or molecular or dpd "
        "or mdpd: say --atom-style",
    ),
    "no style": (
        data_file("1 1", style=None),
        "in.data:10: no atom style has such lines of 2 columns: say --atom-style, or name the columns there",
    ),
    "negative id": (data_file("-1 1 1 2 3"), "in.data:12: column id: '-1' is not an unsigned integer"),
    "real id": (data_file("1.0 1 1 2 3"), "in.data:12: column id: '1.0' is not an unsigned integer"),
    "large id": (
        data_file("18446744073709551616 1 1 2 3"),
        "in.data:12: column id: '18446744073709551616' does not fit an unsigned 64-bit integer",
    ),
    "sign for a molecule": (
        data_file("1 - 1 1 2 3", style="bond"),
        "in.data:12: column mol: '-' is not an integer",
    ),
    "type 0": (data_file("1 0 1 2 3"), "in.data:12: atom type 0: the types begin at 1"),
    "type too large": (data_file("1 1 1 2 3; 2 4 4 5 6", types=3), "in.data:13: atom type 4: the types go from 1 to 3"),
    "label without labels": (data_file("1 C 1 2 3"), "in.data:12: column type: 'C' is not an unsigned integer"),
    "unknown label": (
        data_file("1 N 1 2 3", before={"Atom Type Labels": "1 C"}),
        "in.data:16: there is no atom type 'N'",
    ),
    "two labels": (
        data_file(types=2, before={"Atom Type Labels": "1 C; 1 N"}),
        "in.data:13: atom type 1 has two labels",
    ),
    "one label for two": (
        data_file(types=2, before={"Atom Type Labels": "1 C; 2 C"}),
        "in.data:13: two atom types have the label 'C'",
    ),
    "two masses": (data_file(types=2, before={"Masses": "1 1; 1 2"}), "in.data:13: atom type 1 has two masses"),
    "no mass": (data_file(before={"Masses": "1 nan"}), "in.data:12: the mass of atom type 1 is nan"),
    "large image": (data_file("1 1 1 2 3 0 2147483648 0"), "in.data:12: the image 2147483648 does not fit 32 bits"),
    "real image": (data_file("1 1 1 2 3 0 0 0.5"), "in.data:12: column iz: '0.5' is not an integer"),
    "velocity of no atom": (
        data_file(sections={"Velocities": "2 1 1 1"}),
        "in.data:16: there is no atom of id 2",
    ),
    "two velocities": (
        data_file("1 1 1 2 3; 2 1 4 5 6", sections={"Velocities": "2 1 1 1; 2 1 1 1"}),
        "in.data:18: the atom of id 2 has two velocities",
    ),
    "velocity of two numbers": (
        data_file(sections={"Velocities": "1 1 1"}),
        "in.data:16: a line of Velocities has 4 columns, this one 3",
    ),
    "velocity with half a spin": (
        data_file("1 1 1 2 1 2 3", style="sphere", sections={"Velocities": "1 1 1 1 1"}),
        "in.data:16: a line of Velocities has 4 columns or 7, this one 5",
    ),
    "bond to no atom": (
        data_file("7 1 1 1 2 3", style="bond", sections={"Bonds": "1 1 7 8"}),
        "in.data:17: there is no atom of id 8",
    ),
    "bond to one of two": (
        data_file("7 1 1 1 2 3; 7 1 1 1 2 3", style="bond", sections={"Bonds": "1 1 7 7"}),
        "in.data:18: several atoms have the id 7",
    ),
    "bond type": (
        data_file("7 1 1 1 2 3", style="bond", header="2 bond types", sections={"Bonds": "1 3 7 7"}),
        "in.data:17: bond type 3: the types go from 1 to 2",
    ),
    "bond without a type": (
        data_file("7 1 1 1 2 3", style="bond", sections={"Bonds": "1  7 7"}),
        "in.data:17: a line of Bonds has 4 columns, this one 3",
    ),
}


@pytest.mark.parametrize("name", FAULTS)
def test_what_is_refused(name):
    text, message = FAULTS[name]
    with pytest.raises(FormatError) as caught:
        decoded(text)
    assert message is None or str(caught.value) == message
    assert caught.value.line is not None


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        (
            data_file(title="x, units = metal"),
            {"units": "real"},
            "in.data:1: the file says that its units are metal, not real",
        ),
        (data_file(), {"units": "foo"}, "there is no LAMMPS unit style 'foo'; they are "),
        (data_file(), {"atom_style": "foo"}, "there is no atom style 'foo'; they are atomic, charge, bond, "),
        (data_file(), {"atom_style": "hybrid foo"}, "there is no atom style 'hybrid foo'; they are "),
        (data_file(), {"atom_style": "id type x y"}, "there is no atom style 'id type x y'; they are "),
        (data_file(), {"atom_style": "id type x y z x"}, "there is no atom style 'id type x y z x'; they are "),
        (data_file(), {"atom_style": "tdpd x"}, "there is no atom style 'tdpd x'; they are "),
        (
            data_file(),
            {"atom_style": "full"},
            "in.data:12: a line of atom style full has 7 columns, or 3 more with images, this one 5",
        ),
        (data_file(), {"type_map": {"2": "Si"}}, "in.data: --type-map names no element for type 1"),
        (data_file(), {"unwrap": True}, "--unwrap needs positions and their images ix, iy and iz"),
    ],
)
def test_options_that_do_not_fit(text, options, message):
    with pytest.raises(OptionError) as caught:
        decoded(text, **options)
    assert str(caught.value).startswith(message)


def test_a_file_that_ends_inside_a_section():
    text = data_file("1 1 0 0 0; 2 1 1 1 1", header="1 bond types", sections={"Bonds": "1 1 1 2; 2 1 1 2"})
    with pytest.raises(FormatError) as caught:
        decoded(text[:-3])
    assert caught.value.message == "the file ends after 1 of 2 lines of Bonds"


def test_a_style_that_is_none():
    with pytest.raises(FormatError) as caught:
        decoded(data_file("1 1 1 1 2 3", style="foo"))
    start = "the section Atoms says 'foo', which is no atom style, its lines may be of charge or molecular"
    assert caught.value.message.startswith(start)


@pytest.mark.parametrize("text", [data_file().rstrip("\n"), data_file(header="3 bonds")])
def test_strict(text):
    with pytest.raises(FormatError):
        decoded(text, strict=True)


def test_strict_names_a_file_that_is_cut(tmp_path):
    (tmp_path / "in.data").write_text(data_file().rstrip("\n"))
    with pytest.raises(TruncatedError, match=r"^in\.data:12: the last line has no line end$"):
        convert(tmp_path / "in.data", tmp_path / "out.h5", strict=True)
    assert left_behind(tmp_path) == []


def attempted(data):
    """What the importer makes of bytes; None where it refuses them, with their place."""
    try:
        return decoded(data)
    except ConvertError as error:
        message = str(error)
    assert re.match(r"in\.data:\d+: ", message), message
    return None


def same(found, due):
    """Whether all that is there is as it is due."""
    return all(
        column.same(due[name].columns[key])
        for name, block in found.items()
        for key, column in block.columns.items()
        if key in due[name].columns
    )


def test_every_prefix():
    """A file cut short is refused, or it lacks relations that its header announces, or says that its end is missing."""
    data = WATER.encode()
    due = decoded(data).frame
    end = data.index(b"CMAP")
    for size in range(len(data)):
        found = attempted(data[:size])
        if found is None:
            continue
        assert found.frame["atoms"].count == 3
        cut = [text for text in found.warnings if "no section" in text or "no line end" in text]
        assert cut or size >= end - 1, (size, found.warnings)
        if not any("no line end" in text for text in cut):
            assert same(found.frame, due), size


def mutated(data, rng):
    """Some bytes replaced, put in, taken out; pieces repeated, lines exchanged."""
    made = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 3, 8))):
        start = rng.randrange(len(made))
        stop = min(len(made), start + rng.choice((1, 2, 5, 30, 200)))
        kind = rng.randrange(6)
        if kind == 0:
            del made[start:stop]
        elif kind == 1:
            made[start:start] = rng.choice(PIECES)
        elif kind == 2:
            made[start:stop] = rng.choice(PIECES)
        elif kind == 3:
            made[start:start] = made[start:stop]
        elif kind == 4:
            made[start] = rng.randrange(256)
        else:
            lines = bytes(made).split(b"\n")
            one, other = rng.randrange(len(lines)), rng.randrange(len(lines))
            lines[one], lines[other] = lines[other], lines[one]
            made = bytearray(b"\n".join(lines))
        if not made:
            made = bytearray(b"\n")
    return bytes(made)


def test_mutations():
    """A mutated file is refused with its place, or comes back from what is written of it as it was read."""
    rng = random.Random(5)
    refused = 0
    for _ in range(MUTATIONS):
        data = mutated(WATER.encode(), rng)
        found = attempted(data)
        if found is None:
            refused += 1
            continue
        try:
            text = encoded(found.snapshot)
        except FormatError:  # labels that LAMMPS does not take
            continue
        assert decoded(text).frame.same(found.frame), data
    assert MUTATIONS // 2 < refused < MUTATIONS


def test_what_is_no_data_file_is_not_taken_for_one():
    from molrec_convert.adapters.lammps_data import FORMAT

    assert FORMAT.sniff is not None
    assert FORMAT.sniff(data_file().encode())
    assert not FORMAT.sniff(b"3 atoms\n0 10 xlo xhi\n")
    assert not FORMAT.sniff(b"# molecule\n\n3 atoms\n\nCoords\n\n1 0 0 0\n")
    assert not FORMAT.sniff(b"title\n\nthe 3 atoms\n0 10 xlo xhi\n")
    assert not FORMAT.sniff(b"")
    assert BOX in data_file()
