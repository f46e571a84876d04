"""Boxes: defaults that are normative, cell parameters, what is refused."""

import math

import numpy as np
import pytest

from molrec_convert.errors import RecordError
from molrec_convert.model import Box
from molrec_convert.model.box import is_regular


def test_defaults():
    box = Box(np.diag([1.0, 2.0, 3.0]))
    assert box.origin.tolist() == [0.0] * 3
    assert box.boundary.tolist() == [True] * 3
    assert box.defined
    assert box.volume == pytest.approx(6.0)


def test_columns_are_lattice_vectors():
    rows = [[1.0, 2, 3], [0, 4, 5], [0, 0, 6]]
    box = Box.from_rows(rows)
    assert box.vectors[:, 0].tolist() == rows[0]
    assert box.vectors.T.tolist() == rows
    assert box.vectors.flags.c_contiguous


def test_orthogonal():
    assert Box.orthogonal(3).vectors.tolist() == np.diag([3.0] * 3).tolist()
    box = Box.orthogonal([3, 4, 5], origin=[1, 2, 3], boundary=[True, False, True])
    assert box.vectors.diagonal().tolist() == [3, 4, 5]
    assert (box.origin.tolist(), box.boundary.tolist()) == ([1, 2, 3], [True, False, True])


def test_undefined():
    box = Box.undefined([1.0, 2.0, 3.0])
    assert not box.defined
    assert box.vectors.tolist() == np.eye(3).tolist()
    assert (box.origin.tolist(), box.boundary.tolist(), box.volume) == ([1, 2, 3], [False] * 3, 0.0)
    with pytest.raises(RecordError, match="an undefined cell is periodic on no axis"):
        Box(np.eye(3), boundary=[True, False, False], defined=False)


@pytest.mark.parametrize(
    "parameters",
    [
        (3, 4, 5, 90, 90, 90),
        (3, 4, 5, 90, 90, 120),
        (3, 4, 5, 60, 70, 80),
        (3, 4, 5, 100, 110, 95),
        (1, 1, 1, 60, 60, 60),
    ],
)
def test_cell_parameters(parameters):
    """a along x, b in the xy plane; the angles are those between b and c, a and c, a and b."""
    box = Box.from_parameters(parameters)
    assert box.parameters == pytest.approx(parameters, rel=1e-13)
    a, b, c = box.vectors.T
    assert a.tolist()[1:] == [0, 0]
    assert b[2] == 0
    assert c[2] > 0
    alpha, beta, gamma = (math.radians(angle) for angle in parameters[3:])
    factor = 1 - math.cos(alpha) ** 2 - math.cos(beta) ** 2 - math.cos(gamma) ** 2
    factor += 2 * math.cos(alpha) * math.cos(beta) * math.cos(gamma)
    assert box.volume == pytest.approx(math.prod(parameters[:3]) * math.sqrt(factor), rel=1e-12)


def test_right_angles_are_exact_zeros():
    assert Box.from_parameters((3, 4, 5, 90, 90, 90)).vectors.tolist() == np.diag([3.0, 4.0, 5.0]).tolist()
    hexagonal = Box.from_parameters((3, 4, 5, 90, 90, 120)).vectors
    assert hexagonal[:, 2].tolist() == [0, 0, 5]
    assert hexagonal[0, 1] == 4 * math.cos(math.radians(120))


@pytest.mark.parametrize("angles", [(10, 10, 90), (90, 90, 0), (90, 90, 180), (0, 90, 90), (60, 60, 130)])
def test_angles_that_make_no_cell(angles):
    with pytest.raises(RecordError, match="the cell vectors are singular or not finite"):
        Box.from_parameters((1, 1, 1, *angles))


@pytest.mark.parametrize(
    "vectors",
    [
        np.zeros((3, 3)),
        np.diag([1.0, 1.0, 0.0]),
        np.full((3, 3), np.nan),
        np.diag([1.0, np.inf, 1.0]),
        [[1.0, 1, 0], [1, 1, 0], [0, 0, 1]],
        [[1.0, 0, 1], [0, 1, 1], [0, 0, 0]],
    ],
)
def test_vectors_that_do_not_span_space(vectors):
    assert not is_regular(np.asarray(vectors))
    with pytest.raises(RecordError, match="the cell vectors are singular or not finite"):
        Box(vectors)


@pytest.mark.parametrize(
    "vectors",
    [
        np.diag([1e-10, 1e-10, 1e-10]),
        np.diag([1e5, 1e-5, 1.0]),
        np.diag([-1.0, 1.0, 1.0]),
        [[0.0, 4, 4], [4, 0, 4], [4, 4, 0]],
        np.eye(3) * 1e300,
    ],
)
def test_odd_cells_that_do(vectors):
    assert is_regular(np.asarray(vectors, float))
    Box(vectors)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"vectors": np.eye(3, dtype="f4")}, "vectors of a box: f64 of shape [3, 3] is due, not float32 [3, 3]"),
        ({"vectors": np.eye(2)}, "vectors of a box: f64 of shape [3, 3] is due, not float64 [2, 2]"),
        ({"vectors": np.eye(3) * 1j}, "vectors of a box: f64 of shape [3, 3] is due, not complex128 [3, 3]"),
        ({"vectors": np.eye(3), "origin": [0, 0]}, "an origin of a box: f64 of shape [3] is due, not int64 [2]"),
        ({"vectors": np.eye(3), "boundary": [1, 1, 0]}, "a boundary is bool[3], not int64 of shape [3]"),
        ({"vectors": np.eye(3), "boundary": [True]}, "a boundary is bool[3], not bool of shape [1]"),
    ],
)
def test_what_is_no_box(arguments, message):
    with pytest.raises(RecordError) as caught:
        Box(**arguments)
    assert str(caught.value) == message


def test_same():
    assert Box.orthogonal(3).same(Box(np.diag([3.0] * 3)))
    assert not Box.orthogonal(3).same(Box.orthogonal(3, origin=[0.0, -0.0, 0.0]))
    assert not Box.orthogonal(3).same(Box.orthogonal(3, boundary=[True, True, False]))
    assert not Box.orthogonal(1).same(Box.undefined())


def test_the_arrays_are_copies():
    vectors = np.eye(3)
    box = Box(vectors)
    vectors[0, 0] = 5
    assert box.vectors[0, 0] == 1


def test_repr():
    assert repr(Box.orthogonal(3)) == "Box(3 × 3 × 3, periodic abc)"
    tilted = Box.from_parameters((3, 4, 5, 90, 90, 120), origin=[1, 0, 0], boundary=[True, False, False])
    assert repr(tilted) == "Box(3 × 4 × 5, 90° 90° 120°, origin [1.0, 0.0, 0.0], periodic a)"
    assert repr(Box.orthogonal(3, boundary=[False] * 3)) == "Box(3 × 3 × 3, periodic nowhere)"
    assert repr(Box.undefined([1.0, 0, 0])) == "Box(no cell, origin [1.0, 0.0, 0.0])"
