"""Frames found many at a time in memory, and one by one where memory holds less: the same places and bytes."""

import io
import itertools

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from molrec_convert import registry
from molrec_convert.errors import ConvertError
from molrec_convert.options import Options
from molrec_convert.text.streams import open_stream
from molrec_convert.text.window import Window
from tests.test_stacks import DUMPS, PDBS, XYZS, texts

RANDOM = settings(max_examples=80, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)


def places(content, name, chunk):
    """Where frames lie, and what is wrong behind them."""
    importer = registry.by_name(name).importer("in.file", Options())
    window = Window(open_stream(None, file=io.BytesIO(content)), chunk=chunk)
    found = []
    try:
        for span in importer.index(window, keep=True):
            snapshot = importer.decode(span)
            found.append((*span[:4], bytes(span.data or b""), snapshot.step, snapshot.time, repr(snapshot.about)))
    except ConvertError as error:
        found.append(str(error))
    return found


@RANDOM
@given(
    st.one_of(
        st.tuples(st.just("lammps-dump"), texts(DUMPS)),
        st.tuples(st.just("xyz"), texts(XYZS)),
        st.tuples(st.just("pdb"), texts(PDBS)),
    ),
    st.integers(1, 200),
    st.sampled_from(["", "x", "\n", "1\n", "END\n"]),
)
def test_memory_makes_no_difference(source, chunk, end):
    name, content = source
    whole, pieces = (places((content + end).encode(), name, size) for size in (1 << 20, chunk))
    assert whole == pieces


@pytest.mark.parametrize(("head", "body"), [(1, 2), (2, 1), (1, 0), (3, 3)])
def test_runs_of_lines(head, body):
    lines = [b"%d\n" % k for k in range(10)]
    window = Window(open_stream(None, file=io.BytesIO(b"".join(lines))))
    assert window.peek(1000) == b"".join(lines)  # so that all is in memory
    whole = len(lines) // (head + body)
    for k, found in enumerate(window.runs(head, body)):
        start = k * (head + body)
        assert found == (b"".join(lines[start : start + head]), b"".join(lines[start + head : start + head + body]))
        assert window.line == start + 1
    assert k == whole - 1
    assert window.next_line() == b"%d" % (whole * (head + body)) or whole * (head + body) == len(lines)


def test_a_run_that_is_none_is_not_passed():
    window = Window(open_stream(None, file=io.BytesIO(b"a\nb\nc\nd\ne\n")))
    assert window.peek(1000)
    for first, _ in itertools.islice(window.runs(1, 1), 2):
        if first == b"c\n":
            break
    assert window.next_line() == b"c"
