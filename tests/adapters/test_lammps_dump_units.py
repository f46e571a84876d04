"""LAMMPS dump: unit styles on the way into a record and back."""

import pytest

from molrec_convert.convert import convert
from molrec_convert.errors import OptionError
from molrec_convert.mapping.units import SYSTEMS, factor

from ..dumps import snapshot, snapshots

COLUMNS = "id q mass x y z vx fx mux radius c_pe"
ROW = "1 0.5 2.5 1.25 2 3 0.75 -1.5 0.125 1.5 0.3"

FACTORS = {  # of length, time, velocity, force, mass, charge to Å, ps, Å/ps, eV/Å, amu, e; from CODATA 2022
    "si": (1e10, 1e12, 0.01, 624150907.4460764, 6.022140753667369e26, 6.241509074460763e18),
    "cgs": (1e8, 1e12, 1e-4, 6241.509074460764, 6.022140753667369e23, 2081943327.09356),
    "electron": (0.529177210544, 1e-3, 529.177210544, 51.42206751119831, 1.0, 1.0),
    "micro": (1e4, 1e6, 0.01, 0.6241509074460764, 602214075366.7369, 6241509.074460763),
    "nano": (10.0, 1e3, 0.01, 6.241509074460764e-4, 602214.0753667369, 1.0),
}
MOLREC = {
    "length": "angstrom", "time": "ps", "mass": "amu", "energy": "eV", "charge": "e", "pressure": "bar",
    "temperature": "K", "velocity": "angstrom/ps", "force": "eV/angstrom",
}  # fmt: skip


def dump(units=None):
    return snapshot(ROW, columns=COLUMNS, units=units, time="8", bounds=("-1 9",) * 3)


@pytest.mark.parametrize("style", FACTORS)
@pytest.mark.parametrize("stated", [True, False])
def test_styles_of_other_lengths_are_converted(converted, text_of, style, stated):
    made = converted(dump(style if stated else None), units=None if stated else style)
    length, time, velocity, force, mass, charge = FACTORS[style]
    due = {"x": 1.25 * length, "radius": 1.5 * length, "vx": 0.75 * velocity, "fx": -1.5 * force, "mass": 2.5 * mass,
           "charge": 0.5 * charge, "mux": 0.125 * charge * length, "c_pe": 0.3}  # fmt: skip
    assert {name: made.values(name)[0] for name in due} == pytest.approx(due, rel=1e-12)
    assert made.record.trajectory.time[0] == pytest.approx(8 * time, rel=1e-12)
    assert made.box().vectors[0, 0] == pytest.approx(10 * length, rel=1e-12)
    assert made.box().origin[2] == pytest.approx(-length, rel=1e-12)
    assert made.record.meta["units"] == MOLREC
    assert made.about["lammps_units"] == style
    lines = text_of(made).splitlines()
    assert lines[:4] == ["ITEM: UNITS", style, "ITEM: TIME", "8"]
    assert lines[8] == "ITEM: BOX BOUNDS pp pp pp"
    assert [float(word) for word in lines[9].split()] == [-1.0, 9.0]
    assert lines[-1] == ROW


@pytest.mark.parametrize(
    ("style", "names"),
    [
        ("real", {"time": "fs", "velocity": "angstrom/fs", "energy": "kcal/mol", "force": "kcal/mol/angstrom"}),
        ("metal", {"time": "ps", "velocity": "angstrom/ps", "energy": "eV", "force": "eV/angstrom"}),
    ],
)
def test_numbers_in_angstrom_stay_the_sources_own(converted, style, names):
    made = converted(dump(style))
    assert [made.values(name)[0] for name in ("x", "vx", "fx", "mass", "charge", "mux")] == [
        1.25, 0.75, -1.5, 2.5, 0.5, 0.125,
    ]  # fmt: skip
    assert made.record.trajectory.time.tolist() == [8.0]
    units = made.record.meta["units"]
    assert {quantity: units[quantity] for quantity in names} == names
    assert (units["length"], units["mass"], units["charge"]) == ("angstrom", "amu", "e")


def test_ratios_are_never_converted(converted, text_of):
    made = converted(dump("lj"))
    assert [made.values(name)[0] for name in ("x", "vx", "mass_lj", "charge_lj")] == [1.25, 0.75, 2.5, 0.5]
    assert not {"mass", "charge"} & set(made.atoms())
    assert made.record.meta["units"]["length"] == "sigma"
    assert text_of(made).splitlines()[-2:] == [f"ITEM: ATOMS {COLUMNS}", ROW]
    with pytest.raises(OptionError, match="numbers without dimension are not converted: --to-units does not fit"):
        converted(dump("lj"), to_units="metal")


def test_an_unknown_style_claims_nothing(converted, text_of):
    made = converted(dump())
    assert "units" not in made.record.meta
    assert "lammps_units" not in made.about
    assert text_of(made).startswith("ITEM: TIME\n8\nITEM: TIMESTEP\n")
    with pytest.raises(OptionError, match="--to-units needs a source whose units are known: say --units"):
        converted(dump(), to_units="metal")


def test_to_units(converted, text_of):
    made = converted(dump("real"), to_units="metal")
    assert [made.values(name)[0] for name in ("x", "vx", "mass", "charge")] == [1.25, 750.0, 2.5, 0.5]
    assert made.values("fx")[0] == pytest.approx(-1.5 * 0.04336410424180093, rel=1e-14)
    assert made.record.trajectory.time.tolist() == [0.008]
    assert made.record.meta["units"] == MOLREC
    assert text_of(made).splitlines()[:4] == ["ITEM: UNITS", "metal", "ITEM: TIME", "0.008"]


@pytest.mark.parametrize("style", ["real", "si", "electron", "nano"])
def test_a_target_is_written_in_the_units_asked_for(style, tmp_path, converted):
    made = converted(dump("metal"))
    convert(made.path, tmp_path / "out.lammpstrj", to_units=style)
    lines = (tmp_path / "out.lammpstrj").read_text().splitlines()
    assert lines[:2] == ["ITEM: UNITS", style]
    scale = factor("velocity", SYSTEMS["metal"], SYSTEMS[style])
    position = lines[-2].split().index("vx") - 2
    assert float(lines[-1].split()[position]) == pytest.approx(0.75 * scale, rel=1e-14)


@pytest.mark.parametrize(("name", "message"), [
    ("foo", "there is no unit style 'foo'; known are "),
    ("lj", "numbers are not made ratios: --to-units lj does not fit"),
])  # fmt: skip
def test_unit_systems_that_are_none(converted, name, message):
    with pytest.raises(OptionError) as caught:
        converted(dump("real"), to_units=name)
    assert str(caught.value).startswith(message)


def test_a_target_of_another_style(converted, text_of):
    made = converted(snapshot("1 1 2 3 0.5", columns="id x y z vx", units="real", time="1000"))
    lines = text_of(made, units="metal").splitlines()
    assert (lines[1], lines[3], lines[-1]) == ("metal", "1", "1 1 2 3 500")
    lines = text_of(made, units="nano").splitlines()
    assert (lines[1], lines[3], lines[-1]) == ("nano", "0.001", "1 0.1 0.2 0.3 50000")
    assert [float(word) for word in lines[9].split()] == [0.0, 1.0]
    with pytest.raises(OptionError, match="there is no LAMMPS unit style 'foo'"):
        text_of(made, units="foo")


def test_the_option_may_not_contradict_the_file(converted):
    assert converted(dump("metal"), units="metal").about["lammps_units"] == "metal"
    with pytest.raises(OptionError) as caught:
        converted(dump("metal"), units="real")
    assert str(caught.value) == "in.dump:1: the file says that its units are metal, not real"
    with pytest.raises(OptionError) as caught:
        converted(dump(), units="foo")
    assert str(caught.value) == (
        "there is no LAMMPS unit style 'foo'; they are real, metal, si, cgs, electron, micro, nano, lj"
    )


def test_units_that_come_late(converted):
    """Numbers of two kinds do not go into one record."""
    late = dump() + dump("si").replace("TIMESTEP\n0", "TIMESTEP\n1")
    with pytest.raises(OptionError) as caught:
        converted(late)
    assert str(caught.value) == "in.dump:13: the units are si here, and unknown before: say --units"
    made = converted(late, units="si")
    assert [made.values("x", k) for k in (0, 1)] == [[1.25e10]] * 2
    with pytest.raises(OptionError, match=r"in\.dump:15: the file says that its units are si, not metal"):
        converted(dump("metal") + dump("si"))


def test_many_numbers_come_back_from_other_units(converted, text_of):
    """What six digits wrote is found again, however it was scaled."""
    rows = [f"{k + 1} {k * 0.001237 - 3:g} {k / 7:g} {1.60218e-19 * k:g}" for k in range(500)]
    text = snapshots([rows], columns="id x y z", units="si")
    assert text_of(converted(text)).splitlines()[-500:] == rows
