"""Digits that text formats do not hold: named exactly where a number does not come back to the bit."""

import numpy as np
import pytest

import molrec_convert as mc
from molrec_convert.adapters._digits import LostDigits
from molrec_convert.convert import convert
from molrec_convert.errors import ConvertError, LossError
from molrec_convert.loss import Loss
from molrec_convert.model import Block, Box, Column, Frame

from ..cubes import cube
from ..gros import THREE as GRO
from ..pdbs import THREE as PDB

COUNT = 500
ANGSTROM = {"length": "angstrom", "velocity": "angstrom/ps", "time": "ps"}


def decimals(count, seed=0, size=30.0):
    """Reals of so many decimals."""
    return np.round(np.random.default_rng(seed).normal(size=COUNT) * size, count)


def frame(*, box=None, **columns):
    """Atoms at positions that every one of the formats holds."""
    plain = {"name": ["C"] * COUNT, **{name: np.arange(COUNT) % 90 * 0.25 * 4 for name in "xyz"}}
    return Frame({"atoms": {**plain, **columns}}, box=box)


def lost(folder, made, name, **options):
    """What the report of writing a record names, which is what a strict one refuses."""
    mc.write(folder / "in.h5", made, units=ANGSTROM, force=True)
    named = set(convert(folder / "in.h5", folder / name, force=True, **options).losses.losses)
    if named:
        with pytest.raises(LossError):
            convert(folder / "in.h5", folder / f"strict-{name}", strict=True, **options)
        assert not (folder / f"strict-{name}").exists()
    else:
        convert(folder / "in.h5", folder / f"strict-{name}", strict=True, **options)
        (folder / f"strict-{name}").unlink()
    return named


class TestColumns:
    @pytest.mark.parametrize(
        ("name", "column", "held", "more"),
        [
            ("out.pdb", "x", 3, 4),
            ("out.pdb", "occupancy", 2, 3),
            ("out.pdb", "b_factor", 2, 3),
            ("out.gro", "z", 2, 3),
        ],
    )
    def test_decimals(self, tmp_path, name, column, held, more):
        assert lost(tmp_path, frame(**{column: decimals(held, size=20.0)}), name) == set()
        named = lost(tmp_path, frame(**{column: decimals(more, size=20.0)}), name)
        assert named == {f"digits of atoms.{column}"}

    def test_one_number_is_enough(self, tmp_path):
        """And one bit of it."""
        values = decimals(3)
        values[COUNT // 2] = np.nextafter(27.371, 30.0)
        assert lost(tmp_path, frame(x=values), "out.pdb") == {"digits of atoms.x"}
        values[COUNT // 2] = 27.371
        assert lost(tmp_path, frame(x=values), "out.pdb") == set()

    def test_of_a_later_frame(self, tmp_path):
        frames = [frame(), frame(), frame(y=decimals(4))]
        with pytest.warns(mc.errors.LossWarning, match=r"not carried by pdb: digits of atoms\.y$"):
            mc.write(tmp_path / "out.pdb", frames)

    def test_velocities(self, tmp_path):
        columns = {name: decimals(3, seed) for seed, name in enumerate(("vx", "vy", "vz"))}
        made = frame(**columns)
        assert lost(tmp_path, made, "out.gro") == set()
        made["atoms"]["vy"] = decimals(4)
        assert lost(tmp_path, made, "out.gro") == {"digits of atoms.vy"}
        assert lost(tmp_path, made, "out.gro", decimals=5) == set()

    def test_numbers_under_nulls(self, tmp_path):
        valid = np.arange(COUNT) % 2 == 0
        made = frame(occupancy=Column(np.where(valid, 0.5, 1 / 3), valid=valid))
        assert lost(tmp_path, made, "out.pdb") == set()

    def test_numbers_that_need_their_columns(self, tmp_path):
        """A factor of six characters loses its decimals one by one."""
        made = frame(b_factor=[12.34, 1234.5, 100000.0] + [0.0] * (COUNT - 3))
        assert lost(tmp_path, made, "out.pdb") == set()
        made["atoms"]["b_factor"] = [1234.56] + [0.0] * (COUNT - 1)
        assert lost(tmp_path, made, "out.pdb") == {"digits of atoms.b_factor"}

    @pytest.mark.parametrize(("name", "precision"), [("out.pdb", 1e-3), ("out.gro", 1e-2)])
    def test_a_declared_precision(self, tmp_path, name, precision):
        """What is stored the same is the same."""
        places = {axis: Column(decimals(3 if name == "out.pdb" else 2, k), precision=precision)
                  for k, axis in enumerate("xyz")}  # fmt: skip
        made = frame(**places)
        assert lost(tmp_path, made, name) == set()
        made["atoms"]["x"] = Column(decimals(5), precision=precision / 64)
        assert lost(tmp_path, made, "out.pdb") == {"digits of atoms.x"}

    def test_no_numbers(self, tmp_path):
        assert lost(tmp_path, frame(x=[np.nan, np.inf, -np.inf] + [0.0] * (COUNT - 3)), "out.pdb") == set()

    def test_a_turned_cell_is_named_alone(self, tmp_path):
        box = Box.from_rows([[0.0, 5.0, 0.0], [0.0, 0.0, 6.0], [7.0, 0.0, 0.0]])
        assert lost(tmp_path, frame(box=box, x=decimals(9)), "out.pdb") == {"orientation of the cell"}


class TestUntouched:
    """Sources of the same decimals lose nothing, whatever unit they go through."""

    @pytest.mark.parametrize(("text", "name"), [(PDB, "in.pdb"), (GRO, "in.gro"), (cube(), "in.cube")])
    @pytest.mark.parametrize("unit", [None, "gromacs"])
    def test_back_to_its_format(self, tmp_path, text, name, unit):
        (tmp_path / name).write_text(text)
        convert(tmp_path / name, tmp_path / "made.h5", to_units=unit)
        report = convert(tmp_path / "made.h5", tmp_path / name.replace("in", "out"))
        assert {item for item in report.losses.losses if "box" not in item} == set()
        assert unit is not None or not report.losses

    @pytest.mark.parametrize("unit", [None, "gromacs"])
    def test_many_numbers(self, tmp_path, unit):
        places = {axis: decimals(3, k) for k, axis in enumerate("xyz")}
        mc.write(tmp_path / "1.pdb", frame(**places, box=Box.orthogonal([27.371, 31.003, 9.999])))
        convert(tmp_path / "1.pdb", tmp_path / "2.h5", to_units=unit)
        assert not convert(tmp_path / "2.h5", tmp_path / "3.pdb", strict=True).losses
        assert (tmp_path / "3.pdb").read_bytes() == (tmp_path / "1.pdb").read_bytes()
        places = {axis: np.round(values, 2) for axis, values in places.items()}
        made = Frame({"atoms": places}, box=Box.orthogonal([27.5, 31.25, 10.0]))
        mc.write(tmp_path / "1.gro", made)
        convert(tmp_path / "1.gro", tmp_path / "4.h5", to_units=unit)
        assert not convert(tmp_path / "4.h5", tmp_path / "3.gro", strict=True).losses
        assert (tmp_path / "3.gro").read_bytes() == (tmp_path / "1.gro").read_bytes()

    def test_from_one_to_the_other(self, tmp_path):
        """Hundredths of an ångström are thousandths of a nanometre; of thousandths one digit is lost."""
        (tmp_path / "in.gro").write_text(GRO)
        assert not {
            item for item in convert(tmp_path / "in.gro", tmp_path / "out.pdb").losses.losses if "digits" in item
        }
        mc.write(tmp_path / "in.pdb", frame(x=decimals(3)))
        named = convert(tmp_path / "in.pdb", tmp_path / "out.gro").losses.losses
        assert "digits of atoms.x" in named
        assert named["digits of atoms.x"].reason == "the numbers have 3 decimals of nm; --decimals writes more"
        assert "digits of atoms.y" not in named
        named = convert(tmp_path / "in.pdb", tmp_path / "out.gro", decimals=4, force=True).losses.losses
        assert not {item for item in named if "digits" in item}


class TestGrids:
    @pytest.mark.parametrize(
        ("values", "options", "named"),
        [
            ([0.5, 1e-30, -1.23456e200, 5e-324, 0.0, -0.0], {}, set()),
            ([0.5, 1.234567, 0.0, 0.0, 0.0, 0.0], {}, {"digits of grid.density"}),
            ([0.5, 1.234567, 0.0, 0.0, 0.0, 0.0], {"decimals": 6}, set()),
            ([0.5, np.nextafter(0.25, 1.0), 0.0, 0.0, 0.0, 0.0], {}, {"digits of grid.density"}),
            ([np.nan, np.inf, -np.inf, 0.0, 0.0, 0.0], {}, set()),
        ],
    )
    def test_values(self, tmp_path, values, options, named):
        made = self.made({"density": np.array(values)})
        mc.write(tmp_path / "in.h5", made, units={"length": "bohr"})
        report = convert(tmp_path / "in.h5", tmp_path / "out.cube", **options)
        assert set(report.losses.losses) == named

    def test_of_several_fields(self, tmp_path):
        fields = {"mo_1": np.arange(6.0), "mo_2": np.arange(6.0) / 3.0}
        atoms = {"element": ["O"], "x": [0.5], "y": [0.1234567], "z": [0.0], "nuclear_charge": [1 / 3]}
        mc.write(tmp_path / "in.h5", self.made(fields, atoms), units={"length": "bohr"})
        report = convert(tmp_path / "in.h5", tmp_path / "out.cube")
        assert set(report.losses.losses) == {
            "digits of grid.mo_2", "digits of atoms.y", "digits of atoms.nuclear_charge"
        }  # fmt: skip

    def test_a_declared_precision(self, tmp_path):
        field = Column(np.arange(6.0) / 3.0, precision=1e-4)
        mc.write(tmp_path / "in.h5", self.made({"density": field}), units={"length": "bohr"})
        assert not convert(tmp_path / "in.h5", tmp_path / "out.cube").losses

    def test_cells(self, tmp_path):
        made = self.made({"density": np.zeros(6)})
        made.box = Box.orthogonal([1.0, 2.0, 1.0], origin=[0.0, 0.0, 1 / 3], boundary=[False] * 3)
        mc.write(tmp_path / "in.h5", made, units={"length": "bohr"})
        named = convert(tmp_path / "in.h5", tmp_path / "out.cube").losses.losses
        assert set(named) == {"digits of box", "digits of box.origin"}
        assert named["digits of box"].reason == "numbers before the values have 6 decimals; --decimals writes more"

    @staticmethod
    def made(fields, atoms=None):
        """A grid of six points, in bohr."""
        box = Box.orthogonal([1.0, 2.0, 3.0], boundary=[False] * 3)
        blocks = {"grid": Block(fields, shape=(1, 2, 3))}
        return Frame(blocks | ({} if atoms is None else {"atoms": atoms}), box=box)


class TestLostDigits:
    def test_are_asked_for_once_each(self):
        found = LostDigits()
        column = Column([1 / 3])
        asked = []

        def read():
            asked.append(None)
            return np.array([0.333])

        for _ in range(3):
            found.check("atoms.x", column, read, "three decimals")
        assert len(asked) == 1
        found.check("atoms.b", Column([0.5]), lambda: np.array([0.5]), "one decimal")
        found.add(Loss("digits of a", "none"))
        assert [loss.item for loss in found.losses] == ["digits of a", "digits of atoms.x"]

    def test_are_named_to_a_person(self, tmp_path):
        mc.write(tmp_path / "in.h5", frame(x=decimals(4)))
        with pytest.raises(ConvertError, match=r"pdb cannot hold digits of atoms\.x: positions have three decimals$"):
            convert(tmp_path / "in.h5", tmp_path / "out.pdb", strict=True)
        assert [path.name for path in tmp_path.iterdir()] == ["in.h5"]
