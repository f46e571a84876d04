"""Names of columns: each is of one quantity, and each quantity is known."""

from collections import Counter

from molrec_convert.mapping.names import FIXED_REALS, META_QUANTITIES, MOVING, NAMES, QUANTITIES, may_be_fixed
from molrec_convert.mapping.units import COMPOSED, SIMPLE
from molrec_convert.model.dtypes import CANONICAL
from molrec_convert.model.meta import PER_STEP_F64


def test_a_name_is_of_one_quantity():
    names = Counter(name for names in NAMES.values() for name in names)
    assert [name for name, count in names.items() if count > 1] == []
    assert {name: QUANTITIES[name] for name in names} == dict(QUANTITIES)
    assert all(name in NAMES[quantity] for name, quantity in QUANTITIES.items())


def test_quantities_have_units():
    assert set(NAMES) | set(META_QUANTITIES.values()) <= {*SIMPLE, *COMPOSED}


def test_what_has_a_unit_is_real():
    assert {CANONICAL.get(name, "f64") for name in QUANTITIES} == {"f64"}
    assert {key for key in META_QUANTITIES if key not in ("free_energy", "virial", "stress", "dipole")} <= PER_STEP_F64


def test_columns_move_or_are_fixed():
    assert not MOVING & FIXED_REALS
    assert [name for name in ("x", "vx", "fx", "ix") if may_be_fixed(name, CANONICAL[name])] == []
    assert all(may_be_fixed(name, "f64") for name in FIXED_REALS)
    assert may_be_fixed("id", "u64")
    assert may_be_fixed("element", "string")
    assert not may_be_fixed("c_energy", "f64")
    assert not may_be_fixed("phase", "c128")
