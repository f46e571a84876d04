"""Writing XYZ: the text of the source where nothing was changed, extended XYZ, what is refused."""

import numpy as np
import pytest

import molrec_convert as mc
from molrec_convert.convert import convert
from molrec_convert.errors import LossError
from molrec_convert.model import Box, Frame, Meta

from ..xyzs import frame, trajectory_of

LATTICE = 'Lattice="4.0 0.0 0.0 0.5 5.0 0.0 0.0 0.0 6.0"'
SPECIES = "Properties=species:S:1:pos:R:3"
IPI = "# CELL(abcABC):   35.23300    36.00000    37.00000    90.00000    80.00000    90.00000  Step: {}  Bead: 0 "


def one(comment, row="H 0.5 0.0 -1.25"):
    return frame(row, comment=comment)


SAME = {
    "plain": frame("O 0.10 0.20 0.30", "H 1.00 0.00 -0.00", comment=" water,  as it  is "),
    "no comment": frame("O 0.5 0.25 1.0", "H 1.0 0.0 -1.25"),
    "shortest": frame("O 0.1 1e-08 123456789.0", "H 0.30000000000000004 -2.5 1e+22"),
    "without points": frame("O 0 0.25 1", "H 1e-05 1 -1.5"),
    "special numbers": frame("O nan inf -inf"),
    "labels": frame("CL 0.5 0.5 0.5", "fe 1.5 1.5 1.5", "D 2.5 2.5 2.5"),
    "labels that are none": frame("1 0.5 0.5 0.5", "2 1.5 1.5 1.5", comment=" Atoms. Timestep: 100"),
    "some labels that are none": frame("C 0.5 0.5 0.5", "CB 1.5 1.5 1.5", "X 2.5 2.5 2.5"),
    "undeclared": frame("C 0.5 0.5 0.5 -0.250 CT 7", "O 1.5 1.5 1.5 0.125 OH 8"),
    "integers in front": frame("6 C 0.5 0.5 0.5", "1 H 1.5 1.5 1.5"),
    "numbered": frame("1 C 0.5 0.5 0.5 7", "2 O 1.5 1.5 1.5 8"),
    "text behind the count": "1 atom -76.5\nx\nH 0.5 0.5 0.5\n",
    "no atoms": frame(comment="none") + frame("C 0.5 0.5 0.5") + frame(),
    "varying": frame("He 0.5 0.5 0.5") + frame("N 0.5 0.5 0.5", "N 0.5 0.5 1.5") + frame("H 0.5 0.5 0.5"),
    "steps of LAMMPS": one(" Atoms. Timestep: 0 Time: 0.000000") + one(" Atoms. Timestep: 50 Time: 0.250000"),
    "steps that go back": one(" Atoms. Timestep: 7") + one(" Atoms. Timestep: 7") + one("none"),
    "CP2K": one(" i =        1, time =        0.500, E =       -17.1643447508"),
    "i-PI": one(f"{IPI.format(0)} positions{{angstrom}}  cell{{atomic_unit}}"),
    "i-PI in bohr": "".join(
        frame("O 1.00000e+00 2.50000e-01 -7.12345e+01".replace("e+00", "").replace("e-01", ""), comment=IPI.format(k))
        for k in (0, 10)
    ).replace("1.00000 2.50000 -7.12345e+01", "1.0 0.25 -71.2345"),
    "forces of i-PI": one(f"{IPI.format(0)} forces{{ev/ang}}  cell{{angstrom}}"),
    "cpptraj": one("Conf 1. Box X: 19.660 0.000 0.000 Y: 0.000 19.660 0.000 Z: 0.000 0.000 19.660"),
    "vectors": one("slab") + "VEC1 4.0 0.0 0.0\nVEC2 0.5 5.0 0.0\n" + one("molecule"),
    "keys alone": one("energy=-1.50 charge=0  name=water"),
    "extended": one(f'{LATTICE}  {SPECIES} energy=-3.250 step=5 time=0.10 config_type="a b"  flag pbc="T F T"'),
    "order of columns": frame("7 0.5 0.5 0.5 O -0.80", "3 1.5 1.5 1.5 H 0.40",
                              comment="Properties=id:I:1:pos:R:3:species:S:1:q:R:1"),
    "all types": frame("O 0.5 0.5 0.5 -1 2 T F x y 1.0 2.0", "H 1.5 1.5 1.5 3 4 F F z w 3.0 4.0",
                       comment=f"{SPECIES}:a:I:2:b:L:2:c:S:2:d:R:2"),
    "no labels": frame("0.5 0.5 0.5 8", "1.5 1.5 1.5 1", comment="Properties=pos:R:3:Z:I:1"),
    "momenta": one(f"{SPECIES}:momenta:R:3:masses:R:1", "O 0.5 0.5 0.5 0.10 -0.20 0.33 15.999"),
    "odd names": one(f"{SPECIES}:a/b:R:1:__c:R:1:x:R:1:charge:I:1", "O 0.5 0.5 0.5 1.5 2.5 3.5 -4"),
    "signed": one(f"{SPECIES}:id:I:1:resid:I:1:ix:I:1", "O 0.5 0.5 0.5 -1 -2 3000000000"),
    "large": one(f"{SPECIES}:n:I:1", "O 0.5 0.5 0.5 18446744073709551615"),
    "duplicates": one(f"{SPECIES}:force:R:3:forces:R:3", "O 0.5 0.5 0.5 1.5 2.5 3.5 4.5 5.5 6.5"),
    "numbers of a row spelled unlike": frame("O 0.5 0.5 0.5 1 0.50 -3.0", "H 1.5 1.5 1.5 2 1.25 4.5",
                                             comment=f"{SPECIES}:color:R:3"),
    "integers in the place of reals": frame("O 0.5 0.5 0.5 -2 1 0 3", "H 1.5 1.5 1.5 1 0 0 0",
                                            comment=f"{SPECIES}:charge:I:1:forces:I:3"),
    "integers, then reals": one(f"{SPECIES}:q:I:1", "H 0.5 0.5 0.5 -4") + one(f"{SPECIES}:q:R:1", "H 0.5 0.5 0.5 2.5"),
    "labels that are integers": frame("14 0.5 0.5 0.5", "8 1.5 1.5 1.5", comment="Properties=species:I:1:pos:R:3"),
    "columns that come and go": one(f"{SPECIES}:forces:R:3 energy=-1", "H 0.5 0.5 0.5 1.5 2.5 3.5")
    + one("classical")
    + one(f"{SPECIES}:w:R:2 energy=-2.5", "H 0.5 0.5 0.5 4.5 5.5")
    + one(f"{LATTICE} {SPECIES}:w:R:1 n=T", "H 0.5 0.5 0.5 6.5")
    + one("pos again"),
    "broken items": one(f'{LATTICE} =x (y) a= b=1 c="unclosed'),
    "keys that mean something": one(f"{SPECIES} timestep=0.5 time=now cell_defined=F temp=high"),
    "units": one(f"{SPECIES} energy=-0.5 energy-unit=hartree"),
    "no volume": one(f'Lattice="1 0 0 2 0 0 0 0 3" {SPECIES}'),
    "two vectors": one(f'Lattice="1 0 0 0 2 0 0 0 0" {SPECIES} pbc="T T F"'),
    "origin": one(f'{LATTICE} Origin="-1 0.50 2" {SPECIES}') + one(f'{SPECIES} Origin="1 2 3"'),
}  # fmt: skip


class TestSame:
    @pytest.mark.parametrize("text", SAME.values(), ids=SAME.keys())
    def test_a_file_comes_back_as_it_was(self, converted, text_of, text):
        made = converted(text, "in.xyz")
        assert text_of(made, "back.xyz") == text

    @pytest.mark.filterwarnings("ignore::molrec_convert.errors.ConvertWarning")
    @pytest.mark.parametrize(
        "text", [SAME[name] for name in SAME if name != "large"], ids=[name for name in SAME if name != "large"]
    )
    def test_without_its_comment_line_it_says_the_same(self, converted, tmp_path, text):
        made = converted(text, "in.xyz")
        frames, steps = [], made.record.trajectory.step.tolist()
        for each in made.record.trajectory:
            own = [key for key in each.meta if key.startswith("xyz_") and key != "xyz_species"]
            frames.append(
                Frame(dict(each.items()), box=each.box, meta={k: v for k, v in each.meta.items() if k not in own})
            )
        mc.write(tmp_path / "new.xyz", frames, step=steps)
        again = trajectory_of(tmp_path / "new.xyz")
        assert again.step.tolist() == steps
        for one_, other in zip(made.record.trajectory, again, strict=True):
            for name in {"x", "y", "z", "fx", "w", "n"} & set(one_["atoms"]):
                np.testing.assert_array_equal(other["atoms"][name], one_["atoms"][name])
            boxes = [one_.box, other.box]
            assert boxes == [None, None] or boxes[0].same(boxes[1])

    @pytest.mark.parametrize("suffix", ["\n\n \n", ""])
    def test_line_ends_and_blank_lines_are_not_kept(self, converted, text_of, suffix):
        text = SAME["plain"].replace("\n", "\r\n") + suffix
        assert text_of(converted(text, "in.xyz"), "back.xyz") == SAME["plain"]

    def test_a_declared_precision_keeps_the_decimals(self, converted, text_of):
        text = frame("O 0.100 12.34", "H 1.000 -0.00").replace("0.100 12.34", "0.100 12.34 5.0")
        text = text.replace("1.000 -0.00", "1.000 -0.00 6.5")
        made = converted(text, "in.xyz", precision="auto")
        assert made.atoms().columns["x"].precision == 1e-3
        assert text_of(made, "back.xyz") == text


@pytest.fixture
def edited(converted, tmp_path):
    """Change the first frame of a text's record and write it."""

    def edit(text, change):
        made = converted(text, "in.xyz")
        old = made.record.trajectory[0]
        meta = Meta({**made.about, **old.meta}, tags={**made.about.tags, **old.meta.tags})
        new = Frame(dict(old.items()), box=old.box, meta=meta)
        change(new)
        mc.write(tmp_path / "edited.xyz", new, units=made.record.meta["units"], force=True)
        return (tmp_path / "edited.xyz").read_text()

    return edit


class TestEdited:
    TEXT = one(f'{LATTICE} {SPECIES}:force:R:3 energy=-3.250 pbc="T F T"', "H 0.500 0.250 1.000 1.5 2.5 3.5")

    def test_positions(self, edited):
        def move(new):
            new["atoms"]["x"] = [0.75]

        assert edited(self.TEXT, move) == self.TEXT.replace("0.500", "0.750")
        assert edited(self.TEXT, lambda new: new["atoms"].__setitem__("x", [1 / 3])) == self.TEXT.replace(
            "0.500", "0.3333333333333333"
        )

    def test_velocities(self, edited):
        text = one(f"{SPECIES}:vel:R:3 velocity-unit=angstrom/ps", "H 0.5 0.5 0.5 100.0 0.0 -50.0")
        assert edited(text, lambda new: None) == text
        assert edited(text, lambda new: new.meta.set("pe", 1.0)) == one(
            f"{SPECIES}:velo:R:3 energy=1.0", "H 0.5 0.5 0.5 0.1 0.0 -0.05"
        )
        text = one(f"{SPECIES}:velocities:R:3", "H 0.5 0.5 0.5 100.0 0.0 -50.0")
        assert edited(text, lambda new: new.meta.set("pe", 1.0)) == text.replace(":R:3\nH", ":R:3 energy=1.0\nH")

    def test_energy(self, edited):
        text = edited(self.TEXT, lambda new: new.meta.set("pe", -4.0))
        assert text == self.TEXT.replace("energy=-3.250", "energy=-4.0")

    def test_cell(self, edited):
        def change(new):
            new.box = Box(np.diag([1.0, 2, 3]), origin=[0, 0, 1])

        assert edited(self.TEXT, change).split("\n")[1] == (
            'Lattice="1.0 0.0 0.0 0.0 2.0 0.0 0.0 0.0 3.0" Origin="0.0 0.0 1.0" '
            f'{SPECIES}:force:R:3 energy=-3.25 pbc="T T T"'
        )

        def remove(new):
            new.box = None

        assert edited(self.TEXT, remove).split("\n")[1] == f"{SPECIES}:force:R:3 energy=-3.25"

    def test_columns(self, edited):
        def add(new):
            new["atoms"]["charge"] = [0.5]

        lines = edited(self.TEXT, add).split("\n")
        assert lines[1] == f'{LATTICE} {SPECIES}:force:R:3:charge:R:1 energy=-3.25 pbc="T F T"'
        assert lines[2] == "H 0.500 0.250 1.000 1.5 2.5 3.5 0.5"

        def drop(new):
            for name in ("fx", "fy", "fz"):
                del new["atoms"][name]

        assert edited(self.TEXT, drop).split("\n")[1] == f'{LATTICE} {SPECIES} energy=-3.25 pbc="T F T"'

    def test_a_plain_file(self, edited):
        def add(new):
            new["atoms"]["vx"] = [1.0]

        text = edited(one(" a title "), add)
        assert text == frame("H 0.5 0.0 -1.25 1.0", comment=f'{SPECIES}:vx:R:1 comment=" a title "')

    def test_labels(self, edited):
        def rename(new):
            new["atoms"]["element"] = ["Cl"]

        assert edited(one("a", "CL 0.5 0.5 0.5"), rename) == one("a", "CL 0.5 0.5 0.5")
        assert edited(one("a", "H 0.5 0.5 0.5"), rename) == one("a", "Cl 0.5 0.5 0.5")

    def test_elements_of_labels(self, edited):
        def give(new):
            new["atoms"]["element"] = ["C"]

        text = edited(one("a", "1 0.5 0.5 0.5"), give)
        assert text == frame("C 0.5 0.5 0.5 1", comment=f"{SPECIES}:type:S:1 comment=a")


def test_columns_that_a_frame_lacks_are_no_loss(converted, tmp_path):
    made = converted(SAME["columns that come and go"], "in.xyz")
    assert not convert(made.path, tmp_path / "a.xyz", strict=True).losses


class TestPlain:
    def plain(self, made, tmp_path, warnings=()):
        report = convert(made.path, tmp_path / "plain.xyz", plain=True, force=True)
        assert report.warnings == [f"out.h5: {text}" for text in warnings]
        return (tmp_path / "plain.xyz").read_text()

    def test_of_extended(self, converted, tmp_path):
        made = converted(one(f"{LATTICE} {SPECIES}:forces:R:3 energy=-1", "H 0.5 0.25 1.0 1.5 2.5 3.5"), "in.xyz")
        warning = "plain XYZ leaves out atoms.fx, atoms.fy, atoms.fz, pe, box"
        assert self.plain(made, tmp_path, [warning]) == one("", "H 0.5 0.25 1.0")
        with pytest.raises(LossError) as error:
            convert(made.path, tmp_path / "strict.xyz", plain=True, strict=True)
        assert str(error.value) == "plain XYZ cannot hold atoms.fx, atoms.fy, atoms.fz, pe, box"
        made = converted(one(f'{LATTICE} {SPECIES} comment="a title"', "H 0.5 0.25 1.0"), "in.xyz")
        assert self.plain(made, tmp_path, ["plain XYZ leaves out box"]) == one("a title", "H 0.5 0.25 1.0")

    @pytest.mark.parametrize("name", ["plain", "undeclared", "steps of LAMMPS", "labels that are none"])
    def test_of_plain(self, converted, tmp_path, name):
        assert self.plain(converted(SAME[name], "in.xyz"), tmp_path) == SAME[name]

    def test_with_decimals(self, converted, tmp_path):
        made = converted(SAME["plain"], "in.xyz")
        convert(made.path, tmp_path / "plain.xyz", plain=True, decimals=1)
        assert (tmp_path / "plain.xyz").read_text().split("\n")[2:4] == ["O 0.1 0.2 0.3", "H 1.0 0.0 -0.0"]


def test_of_another_format(converted, tmp_path):
    """A dump becomes extended XYZ, and what that holds of it is read back."""
    (tmp_path / "in.dump").write_text(
        "ITEM: UNITS\nmetal\nITEM: TIME\n0.5\nITEM: TIMESTEP\n100\nITEM: NUMBER OF ATOMS\n1\n"
        "ITEM: BOX BOUNDS pp ff pp\n-1 3\n0 5\n0 6\nITEM: ATOMS id type element x y z vx vy vz\n"
        "7 2 Si 1 2 3 100 0 -50\n"
    )
    convert(tmp_path / "in.dump", tmp_path / "a.h5")
    convert(tmp_path / "a.h5", tmp_path / "a.xyz")
    assert (tmp_path / "a.xyz").read_text() == (
        '1\nLattice="4.0 0.0 0.0 0.0 5.0 0.0 0.0 0.0 6.0" Origin="-1.0 0.0 0.0" '
        "Properties=species:S:1:pos:R:3:velo:R:3:id:I:1:type_id:I:1 step=100 time=0.5 time-unit=ps "
        'pbc="T F T"\nSi 1.0 2.0 3.0 0.1 0.0 -0.05 7 2\n'
    )
    made = converted((tmp_path / "a.xyz").read_text(), "b.xyz")
    assert made.record.trajectory.step.tolist() == [100]
    assert made.record.trajectory.time.tolist() == [0.5]
    assert made.record.meta["units"]["velocity"] == "angstrom/fs"
    assert made.box().origin.tolist() == [-1, 0, 0]
