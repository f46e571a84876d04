"""ASE Atoms of all kinds, and whether two are the same in everything that they hold."""

import datetime
import math

import numpy as np
from ase import Atoms
from ase.calculators.singlepoint import SinglePointCalculator
from ase.constraints import (
    ExternalForce,
    FixAtoms,
    FixBondLengths,
    FixCartesian,
    FixCom,
    FixedLine,
    FixedMode,
    FixedPlane,
    FixInternals,
    FixLinearTriatomic,
    FixScaled,
    FixSubsetCom,
    Hookean,
    MirrorForce,
    MirrorTorque,
)

from molrec_convert.adapters.ase_atoms import from_atoms, to_atoms

NAMES = ("foo", "id", "type", "forces", "a/b", "", "__x", "offset", "charge", "x", "mass", "name", "ix", "nul\0", "tag")
TEXTS = ("", "a", "0012", "two words", "line\nend", "back\\slash", 'quo"te', "nul\0inside", "ångström", "\ud800", "#x")


# ---------------------------------------------------------------- comparison
def difference(one, other, where="") -> str | None:
    """Where two values differ, in type or to the bit; None where they do not."""
    if type(one) is not type(other):
        return f"{where}: {type(one).__name__} {one!r} and {type(other).__name__} {other!r}"
    if isinstance(one, np.ndarray):
        same = one.dtype == other.dtype and one.shape == other.shape and same_elements(one, other)
        return None if same else f"{where}: {one!r} {one.dtype} and {other!r} {other.dtype}"
    if isinstance(one, np.generic):
        return difference(np.asarray(one), np.asarray(other), where)
    if isinstance(one, float):
        return None if one.hex() == other.hex() else f"{where}: {one!r} and {other!r}"
    if isinstance(one, complex):
        return difference((one.real, one.imag), (other.real, other.imag), where)
    if isinstance(one, dict):
        one, other = [(list(one), list(one.values())), (list(other), list(other.values()))]
    if isinstance(one, list | tuple):
        if len(one) != len(other):
            return f"{where}: {one!r} and {other!r}"
        parts = (difference(a, b, f"{where}[{k}]") for k, (a, b) in enumerate(zip(one, other, strict=True)))
        return next((part for part in parts if part), None)
    return None if one == other else f"{where}: {one!r} and {other!r}"


def same_elements(one, other):
    if one.dtype.kind in "OT":
        return difference(one.tolist(), other.tolist()) is None
    if one.dtype.itemsize > 8 and one.dtype.kind == "f":  # there is padding between the bytes
        return np.array_equal(one, other, equal_nan=True)
    return one.tobytes() == other.tobytes()


def assert_same_atoms(one: Atoms, other: Atoms, what: str = "") -> None:
    """Both hold the same bits at the same types: arrays, cell, info, constraints, results."""
    for name, part in PARTS.items():
        found = difference(part(one), part(other), f"{what} {name}")
        assert found is None, found


def constraints_of(atoms):
    """The constraints, each with all its attributes but the objects that one makes of itself when it is used."""
    return [
        (type(each).__name__, {key: value for key, value in vars(each).items() if key != "constraints"})
        for each in atoms.constraints
    ]


PARTS = {
    "arrays": lambda atoms: atoms.arrays,
    "cell": lambda atoms: np.array(atoms.cell),
    "pbc": lambda atoms: np.array(atoms.pbc),
    "celldisp": lambda atoms: atoms.get_celldisp(),
    "info": lambda atoms: atoms.info,
    "constraints": constraints_of,
    "calculator": lambda atoms: None if atoms.calc is None else (atoms.calc.name, dict(atoms.calc.results)),
    "stale": lambda atoms: bool(atoms.calc is not None and atoms.calc.results and atoms.calc.check_state(atoms)),
}


def water(**options) -> Atoms:
    """A molecule."""
    return Atoms("OH2", positions=[[0.0, 0.0, 0.1], [0.0, 0.76, -0.5], [0.0, -0.76, -0.5]], **options)


def losses(snapshot) -> list[str]:
    """What was left out of a snapshot."""
    return [note.message for note in snapshot.notes if note.loss]


def round_trip(atoms):
    """The snapshot of Atoms, from which the same Atoms are made."""
    snapshot = from_atoms(atoms)
    assert losses(snapshot) == []
    assert_same_atoms(atoms, to_atoms(snapshot))
    return snapshot


# ---------------------------------------------------------------- random Atoms
def random_atoms(seed: int) -> Atoms:
    """Atoms with some of all that Atoms may have, the same for the same seed."""
    rng = np.random.default_rng(seed)
    count = int(rng.choice([0, 1, 2, 3, 4, 6, 9, 13]))
    atoms = Atoms(
        numbers=rng.integers(0, 119, count),
        positions=rng.normal(size=(count, 3)) * 10.0 ** rng.integers(-3, 4),
        cell=random_cell(rng),
        pbc=rng.random(3) < 0.5,
    )
    if rng.random() < 0.3:
        place = rng.normal(size=(3, 1)) * (rng.random((3, 1)) < 0.7)
        atoms.set_celldisp(place if rng.random() < 0.5 else place.ravel())
    for key in STANDARD:
        if rng.random() < 0.3:
            STANDARD[key](atoms, rng)
    for name in rng.choice(NAMES, size=rng.integers(0, 4), replace=False).tolist():
        atoms.arrays[name] = random_array(rng, count)
    for _ in range(rng.integers(0, 6)):
        atoms.info[random_key(rng)] = random_value(rng)
    if rng.random() < 0.5 and count >= 4:
        made = [CONSTRAINTS[rng.integers(len(CONSTRAINTS))](count, rng) for _ in range(rng.integers(1, 4))]
        atoms.set_constraint(made)
    if rng.random() < 0.5:
        atoms.calc = random_calculator(atoms, rng)
    return atoms


STANDARD = {
    "masses": lambda atoms, rng: atoms.set_masses(rng.random(len(atoms)) * 20 * (rng.random(len(atoms)) < 0.9)),
    "momenta": lambda atoms, rng: atoms.set_momenta(rng.normal(size=(len(atoms), 3))),
    "charges": lambda atoms, rng: atoms.set_initial_charges(rng.normal(size=len(atoms))),
    "magmoms": lambda atoms, rng: atoms.arrays.update(initial_magmoms=rng.normal(size=len(atoms))),
    "vectors": lambda atoms, rng: atoms.arrays.update(initial_magmoms=rng.normal(size=(len(atoms), 3))),
    "tags": lambda atoms, rng: atoms.set_tags(rng.integers(-5, 5, len(atoms))),
    "binary32": lambda atoms, rng: atoms.arrays.update(momenta=rng.normal(size=(len(atoms), 3)).astype("f4")),
    "narrow": lambda atoms, rng: atoms.arrays.update(tags=rng.integers(-5, 5, len(atoms)).astype("i1")),
}


def random_cell(rng):
    """Cells of any rank: none, slabs, wires, general, left-handed, without a volume, not finite."""
    cell = rng.normal(size=(3, 3)) * 10.0 ** rng.integers(-1, 3)
    kind = rng.integers(0, 9)
    if kind == 0:
        return np.zeros((3, 3))
    if kind in (1, 2):
        cell[rng.permutation(3)[:kind]] = 0.0
    if kind == 3:
        cell[2] = cell[0] - cell[1]
    if kind == 4:
        cell[rng.integers(3), rng.integers(3)] = rng.choice([np.nan, np.inf])
    if kind == 5:
        return np.diag(np.abs(np.diag(cell)))
    if kind == 6:
        cell[0, 0] = -0.0
    return cell


def random_array(rng, count):
    shape = (count, *rng.choice([1, 2, 3, 6], size=rng.choice([0, 0, 1, 2])))
    kind = str(
        rng.choice(
            [
                "f8",
                "f4",
                "f2",
                "i1",
                "i2",
                "i4",
                "i8",
                "u1",
                "u8",
                ">f8",
                "?",
                "c8",
                "c16",
                "U",
                "S",
                "M",
                "O",
                "T",
                "g",
            ]
        )
    )
    numbers = rng.normal(size=shape) * 100
    if kind in ("U", "O", "T"):
        texts = np.empty(shape, dtype=object)
        texts.flat = [str(rng.choice(TEXTS)) for _ in range(texts.size)]
        if kind == "O":
            return texts
        if kind == "T":
            texts.flat = [text.replace("\ud800", "") for text in texts.flat]
            return texts.astype(np.dtypes.StringDType())
        return texts.astype(f"U{rng.integers(12, 20)}")
    if kind == "S":
        return rng.integers(33, 256, shape).astype("u1").view("S1")
    if kind == "M":
        return rng.integers(0, 10**9, shape).astype("M8[s]")
    if kind == "g":
        return np.round(numbers).astype(np.longdouble)
    if kind == "u8":
        return rng.integers(0, 2**64, shape, dtype="u8")
    if kind == "i8":
        return rng.integers(-(2**63), 2**63, shape)
    if kind in ("c8", "c16"):
        return (numbers + 1j * numbers[::-1]).astype(kind)
    if kind[0] == "f" and numbers.size:
        numbers.flat[0] = rng.choice([np.nan, np.inf, -0.0, 1.0])
    return (np.abs(numbers) if kind[0] == "u" else numbers).astype(kind)


def random_key(rng):
    return [
        lambda: str(rng.choice(["energy", "time", "pe", "temp", "key", "stress", "step", "timestep", "cell_defined"])),
        lambda: str(rng.choice(TEXTS)),
        lambda: int(rng.integers(-3, 3)),
        lambda: (1, "a"),
        lambda: None,
        lambda: "_meta_types",
    ][rng.integers(0, 6)]()


def random_value(rng, depth=0):
    plain = (
        lambda: None,
        lambda: bool(rng.random() < 0.5),
        lambda: int(rng.integers(-(2**62), 2**62)),
        lambda: 2**70,
        lambda: 5,
        lambda: float(rng.normal()),
        lambda: float(rng.choice([math.nan, math.inf, -0.0])),
        lambda: str(rng.choice(TEXTS)),
        lambda: complex(rng.normal(), math.nan),
        lambda: b"\x00bytes",
        lambda: datetime.datetime(2020, 1, 2, 3, 4, 5, 6),
        lambda: rng.choice([np.float32(0.1), np.int8(3), np.float64(math.nan), np.bool_(True), np.uint64(2**63)]),
        lambda: np.str_("text"),
        lambda: random_array(rng, int(rng.integers(0, 4))),
        lambda: rng.normal(size=rng.choice([3, 6, 9])),
        lambda: rng.normal(size=(3, 3)).astype("f4"),
        lambda: np.array(2.5),
        lambda: rng.normal(size=3).tolist(),
        lambda: tuple(rng.integers(0, 9, 3).tolist()),
        lambda: [math.nan] * 6,
    )
    nested = (
        lambda: [random_value(rng, depth + 1) for _ in range(rng.integers(0, 4))],
        lambda: tuple(random_value(rng, depth + 1) for _ in range(rng.integers(0, 4))),
        lambda: {random_key(rng): random_value(rng, depth + 1) for _ in range(rng.integers(0, 4))},
        lambda: {"$tuple": random_value(rng, depth + 1)},
        lambda: {1, 2, "three"},
    )
    makers = plain + nested if depth < 3 else plain
    return makers[rng.integers(0, len(makers))]()


def random_calculator(atoms, rng):
    count = len(atoms)
    results = {
        "energy": float(rng.normal()),
        "free_energy": np.float64(rng.normal()),
        "forces": rng.normal(size=(count, 3)),
        "stress": rng.normal(size=6),
        "stresses": rng.normal(size=(count, 6)),
        "dipole": rng.normal(size=3),
        "charges": rng.normal(size=count),
        "magmom": float(rng.normal()),
        "magmoms": rng.normal(size=(count, 3) if rng.random() < 0.5 else count),
        "energies": rng.normal(size=count),
        "dielectric_tensor": rng.normal(size=(3, 3)),
        "born_effective_charges": rng.normal(size=(count, 3, 3)),
        "polarization": rng.normal(size=3),
    }
    chosen = {name: value for name, value in results.items() if rng.random() < 0.4}
    made = SinglePointCalculator(atoms, **chosen)
    if rng.random() < 0.3:
        made.results["node_energy"] = rng.normal(size=count).astype("f4")
        made.results["custom"] = random_value(rng)
        made.results["energy"] = int(rng.integers(5))
        made.results["stress"] = rng.normal(size=(3, 3))
    if rng.random() < 0.5:
        made.name = "mine"
    return made


CONSTRAINTS = (
    lambda count, rng: FixAtoms(rng.permutation(count)[:2]),
    lambda count, rng: FixAtoms(mask=rng.random(count) < 0.5),
    lambda count, rng: FixCartesian([0, 1], mask=(True, False, True)),
    lambda count, rng: FixScaled([1], mask=(True, False, False)),
    lambda count, rng: FixBondLengths([[0, 1], [1, 2]]),
    lambda count, rng: FixBondLengths([[0, 1]], bondlengths=[rng.random()], tolerance=1e-7),
    lambda count, rng: FixedLine([0, 1], rng.normal(size=3)),
    lambda count, rng: FixedPlane(2, rng.normal(size=3)),
    lambda count, rng: FixedMode(rng.normal(size=(count, 3))),
    lambda count, rng: FixCom(),
    lambda count, rng: FixSubsetCom([0, 2]),
    lambda count, rng: FixInternals(bonds=[[1.1, [0, 1]]], angles_deg=[[100.0, [0, 1, 2]]]),
    lambda count, rng: FixLinearTriatomic([[0, 1, 2]]),
    lambda count, rng: Hookean(0, 1, rng.random(), rt=1.5),
    lambda count, rng: Hookean(0, (0.0, 1.0, rng.random()), 5.0),
    lambda count, rng: Hookean(0, (0.0, 0.0, 1.0, -7.0), 5.0),
    lambda count, rng: ExternalForce(0, 1, rng.random()),
    lambda count, rng: MirrorForce(0, 1),
    lambda count, rng: MirrorTorque(0, 1, 2, 3),
)
