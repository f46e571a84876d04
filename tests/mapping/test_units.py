"""Units: every factor against a published value, and that each unit is one thing."""

import math
from collections import Counter
from itertools import pairwise

import numpy as np
import pytest

from molrec_convert.adapter import Snapshot
from molrec_convert.errors import OptionError
from molrec_convert.mapping.inverse import undone
from molrec_convert.mapping.units import (
    COMPOSED,
    CONSTANTS,
    DIMENSIONLESS,
    DIMENSIONLESS_DOCUMENT,
    NAMED,
    SIMPLE,
    SYSTEMS,
    document,
    factor,
    size,
    stored_system,
    system,
    unit_of,
)
from molrec_convert.model import Frame
from molrec_convert.steps import to_units

MOLREC = SYSTEMS["molrec"]
AMU = CONSTANTS["atomic mass"]
DIGITS = 2e-10
"""How closely a factor is known from CODATA 2022, and how exactly the tables below state it."""

PUBLISHED: dict[str, dict[str, float]] = {
    # LAMMPS unit styles, computed from CODATA 2022.
    "real": {"length": 1, "time": 1e-3, "energy": 0.04336410424180093, "velocity": 1000,
             "force": 0.04336410424180093, "mass": 1, "pressure": 1.01325, "charge": 1},
    "metal": {"length": 1, "time": 1, "energy": 1, "velocity": 1, "force": 1, "mass": 1, "pressure": 1, "charge": 1},
    "si": {"length": 1e10, "time": 1e12, "energy": 6.241509074460763e18, "velocity": 0.01,
           "force": 624150907.4460764, "mass": 6.022140753667369e26, "pressure": 1e-5,
           "charge": 6.241509074460763e18},
    "cgs": {"length": 1e8, "time": 1e12, "energy": 624150907446.0763, "velocity": 1e-4, "force": 6241.509074460764,
            "mass": 6.022140753667369e23, "pressure": 1e-6, "charge": 2081943327.09356},
    "electron": {"length": 0.529177210544, "time": 1e-3, "energy": 27.211386245981, "velocity": 529.177210544,
                 "force": 51.4220675112, "mass": 1, "pressure": 1e-5, "charge": 1},
    "micro": {"length": 1e4, "time": 1e6, "energy": 6241.509074460763, "velocity": 0.01, "force": 0.6241509074460763,
              "mass": 602214075366.7369, "pressure": 0.01, "charge": 6241509.074460763},
    "nano": {"length": 10, "time": 1e3, "energy": 0.006241509074460762, "velocity": 0.01,
             "force": 6.241509074460764e-4, "mass": 602214.0753667369, "pressure": 10, "charge": 1},
    # Programs.
    "gromacs": {"length": 10, "time": 1, "energy": 0.010364269656262174, "velocity": 10,
                "force": 0.0010364269656262174, "mass": 1, "pressure": 1, "charge": 1},
    "ase": {"length": 1, "time": 0.010180505717871, "energy": 1, "velocity": 98.2269474339, "force": 1, "mass": 1,
            "pressure": 1602176.634, "charge": 1},
    "mdanalysis": {"length": 1, "time": 1, "energy": 0.010364269656262174, "velocity": 1,
                   "force": 1 / 96.48533212331, "mass": 1, "charge": 1},
    "akma": {"length": 1, "time": 0.0488882129341, "energy": 0.04336410424180093, "velocity": 20.4548282701,
             "force": 0.04336410424180093, "mass": 1, "charge": 1},
    # NIST's atomic units: of velocity 2.18769126216e6 m/s, of force 8.2387235038e-8 N, of time 2.4188843265864e-17 s.
    "atomic": {"length": 0.529177210544, "time": 2.4188843265864e-5, "energy": 27.211386245981,
               "velocity": 21876.9126216, "force": 51.4220675112, "mass": 5.485799090441e-4,
               "pressure": 2.9421015756e8, "charge": 1},
    "molrec": dict.fromkeys(NAMED, 1),
}  # fmt: skip


@pytest.mark.parametrize("name", sorted(SYSTEMS))
def test_factors_are_the_published_ones(name):
    found = {quantity: factor(quantity, SYSTEMS[name], MOLREC) for quantity in PUBLISHED[name]}
    assert found == pytest.approx(PUBLISHED[name], rel=DIGITS)


IN_SI = [  # NIST, CODATA 2022
    ("length", "bohr", 5.29177210544e-11),
    ("energy", "hartree", 4.3597447222060e-18),
    ("energy", "eV", 1.602176634e-19),
    ("energy", "kcal/mol", 6.947695e-21),
    ("energy", "kJ/mol", 1.66053906717e-21),
    ("mass", "amu", 1.66053906892e-27),
    ("mass", "electron", 9.1093837139e-31),
    ("charge", "e", 1.602176634e-19),
    ("charge", "statC", 3.33564095198e-10),
    ("time", "hbar/hartree", 2.4188843265864e-17),
    ("pressure", "atm", 101325.0),
    ("pressure", "bar", 1e5),
    ("pressure", "eV/angstrom^3", 160.2176634e9),
    ("pressure", "hartree/bohr^3", 2.94210158e13),
]


@pytest.mark.parametrize(("quantity", "unit", "due"), IN_SI)
def test_sizes_in_si(quantity, unit, due):
    digits = len(f"{due:.15g}".partition("e")[0].replace(".", "").strip("0"))
    assert float(SIMPLE[quantity][unit]) == pytest.approx(due, rel=0.6 * 10 ** (1 - digits) + 1e-11)


@pytest.mark.parametrize(
    ("found", "due"),
    [
        # Constants of the programs' own sources, which are built on older tables: they agree to their digits.
        (1 / float(SIMPLE["time"]["fs"] / SIMPLE["time"]["akma"]), 48.88821291),
        (float(AMU * (CONSTANTS["Bohr radius"] * 10**15) ** 2 / CONSTANTS["Hartree energy"]), 1.06657236),
        (factor("pressure", {"pressure": "eV/angstrom^3"}, {"pressure": "bar"}), 1.6021765e6),
        (float(SIMPLE["energy"]["kcal/mol"] * 10**30 / SIMPLE["pressure"]["atm"]), 68568.415),
        (factor("velocity", SYSTEMS["ase"], MOLREC), 98.22694788464064),
        (factor("energy", {"energy": "kcal/mol"}, {"energy": "kJ/mol"}), 4.184),
        (factor("energy", {"energy": "hartree"}, {"energy": "kcal/mol"}), 627.5094740),
        (factor("dipole", SYSTEMS["atomic"], SYSTEMS["si"]), 8.4783536198e-30),
    ],
)  # fmt: skip
def test_constants_of_programs(found, due):
    assert found == pytest.approx(due, rel=1e-6)


@pytest.mark.parametrize("name", sorted(SYSTEMS))
def test_a_factor_and_its_inverse_undo_each_other(name):
    for quantity in (*NAMED, *COMPOSED):
        there, back = factor(quantity, SYSTEMS[name], MOLREC), factor(quantity, MOLREC, SYSTEMS[name])
        assert there is not None
        assert back is not None
        assert there * back == pytest.approx(1, abs=3e-16)
        assert there > 0
        assert math.isfinite(there)


def test_a_system_to_itself_is_exactly_one():
    for units in SYSTEMS.values():
        assert [factor(quantity, units, units) for quantity in (*NAMED, *COMPOSED)] == [1.0] * (
            len(NAMED) + len(COMPOSED)
        )


class TestTables:
    def test_a_unit_belongs_to_one_quantity(self):
        names = Counter(name for units in SIMPLE.values() for name in units)
        assert [name for name, count in names.items() if count > 1] == []

    def test_a_size_has_one_name(self):
        for units in SIMPLE.values():
            assert len(set(units.values())) == len(units)

    def test_systems_name_known_units_of_every_quantity(self):
        for units in SYSTEMS.values():
            assert units.keys() == SIMPLE.keys()
            assert all(unit in SIMPLE[quantity] for quantity, unit in units.items())

    def test_every_unit_is_of_some_system(self):
        used = {unit for units in SYSTEMS.values() for unit in units.values()}
        assert {unit for units in SIMPLE.values() for unit in units} - used == set()

    def test_composed_quantities_are_made_of_simple_ones(self):
        assert all(part in SIMPLE for parts in COMPOSED.values() for part, _ in parts)

    def test_systems_differ(self):
        same = {
            (name, other) for name in SYSTEMS for other in SYSTEMS if name < other and SYSTEMS[name] == SYSTEMS[other]
        }
        assert same == {("metal", "molrec")}

    def test_roots_are_exact_to_the_last_bit(self):
        akma, ase = SIMPLE["time"]["akma"], SIMPLE["time"]["angstrom*(amu/eV)^0.5"]
        amu, angstrom = SIMPLE["mass"]["amu"], SIMPLE["length"]["angstrom"]
        for time, energy in ((akma, "kcal/mol"), (ase, "eV")):
            found = time**2 * SIMPLE["energy"][energy] / (amu * angstrom**2)
            assert abs(found - 1) < 10**-30


class TestDocuments:
    @pytest.mark.parametrize("name", sorted(SYSTEMS))
    def test_a_document_says_the_same_as_its_system(self, name):
        units = document(SYSTEMS[name])
        assert list(units) == list(NAMED)
        for quantity in NAMED:
            assert size(quantity, units) == size(quantity, SYSTEMS[name])
            alone = size(quantity, {quantity: units[quantity]})
            assert alone == size(quantity, SYSTEMS[name])

    @pytest.mark.parametrize(
        ("name", "velocity", "force"),
        [
            ("real", "angstrom/fs", "kcal/mol/angstrom"),
            ("mdanalysis", "angstrom/ps", "kJ/mol/angstrom"),
            ("ase", "angstrom/(angstrom*(amu/eV)^0.5)", "eV/angstrom"),
            ("atomic", "bohr/(hbar/hartree)", "hartree/bohr"),
            ("akma", "angstrom/akma", "kcal/mol/angstrom"),
        ],
    )
    def test_names_of_composed_units(self, name, velocity, force):
        assert (unit_of("velocity", SYSTEMS[name]), unit_of("force", SYSTEMS[name])) == (velocity, force)

    def test_a_unit_that_is_named_beside_other_parts(self):
        units = {"length": "angstrom", "time": "ps", "velocity": "angstrom/fs"}
        assert factor("velocity", units, MOLREC) == 1000
        assert factor("force", {"length": "nm", "force": "kcal/mol/angstrom"}, MOLREC) == pytest.approx(0.0433641042418)
        assert factor("velocity", {"velocity": "parsec/fortnight"}, MOLREC) is None
        assert factor("length", {}, MOLREC) is None
        assert unit_of("velocity", {"length": "nm"}) is None

    @pytest.mark.parametrize("name", sorted(SYSTEMS))
    def test_what_a_record_keeps(self, name):
        stored = stored_system(SYSTEMS[name])
        assert (stored["length"], stored["mass"], stored["charge"]) == ("angstrom", "amu", "e")
        own = SYSTEMS[name]["length"] == "angstrom"
        assert stored["time"] == (SYSTEMS[name]["time"] if own else "ps")


class TestDimensionless:
    def test_numbers_are_never_converted(self):
        for units in SYSTEMS.values():
            for quantity in (*NAMED, *COMPOSED):
                assert factor(quantity, DIMENSIONLESS_DOCUMENT, units) is None
                assert factor(quantity, units, DIMENSIONLESS_DOCUMENT) is None

    def test_its_document_names_every_quantity(self):
        assert set(DIMENSIONLESS_DOCUMENT) == set(NAMED)
        assert not set(DIMENSIONLESS_DOCUMENT.values()) & {
            unit for units in SIMPLE.values() for unit in units if unit != "m"
        }

    def test_it_is_no_system(self):
        assert DIMENSIONLESS not in SYSTEMS
        with pytest.raises(OptionError, match=r"^lj numbers have no dimension: they are not converted"):
            system(DIMENSIONLESS)
        with pytest.raises(OptionError, match=r"^there is no unit style 'metric'; known are molrec, real, metal, si"):
            system("metric")

    def test_a_conversion_is_refused(self):
        with pytest.raises(OptionError, match="numbers without dimension are not converted"):
            to_units("metal")(Snapshot(Frame(), units=DIMENSIONLESS_DOCUMENT))


class TestUndone:
    def test_the_numbers_of_the_source_come_back(self):
        rng = np.random.default_rng(4)
        bohr = factor("length", SYSTEMS["atomic"], MOLREC)
        assert bohr is not None
        for digits in (1, 3, 6, 10, 15):
            written = np.array([float(f"{value:.{digits - 1}e}") for value in rng.normal(size=2000).tolist()])
            assert undone(written * bohr, bohr).tolist() == written.tolist()
        exact = rng.normal(size=2000)
        assert (undone(exact * bohr, bohr) * bohr == exact * bohr).mean() > 0.999

    def test_special_values(self):
        values = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 5e-324])
        found = undone(values, 0.5)
        assert np.signbit(found).tolist()[:2] == [False, True]
        assert found[2:4].tolist() == [np.inf, -np.inf]
        assert undone(values, 1.0) is values


def test_styles_of_si_are_powers_of_ten():
    for quantity in ("length", "time", "velocity", "pressure"):
        factors = [factor(quantity, SYSTEMS[name], SYSTEMS["si"]) for name in ("si", "cgs", "micro", "nano")]
        exponents = [math.log10(found) for found in factors if found is not None]
        assert [round(exponent, 12) % 1 for exponent in exponents] == [0] * 4, quantity
    assert all(one != other for one, other in pairwise(SIMPLE["length"].values()))
