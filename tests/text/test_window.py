"""The window against a naive reference that has all bytes at hand."""

import io
import tempfile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from molrec_convert.text import engine, window
from molrec_convert.text.streams import StreamError, open_stream
from molrec_convert.text.window import Window

from .engines import both, thorough


class Reference:
    """What the window must do, on a bytes object."""

    def __init__(self, data):
        self.data = data
        self.offset = 0
        self.line = 1
        self.terminated = True
        self.lined = True
        self.marked = None

    def next_line(self):
        if self.offset == len(self.data):
            return None
        stop = self.data.find(b"\n", self.offset)
        self.terminated = stop >= 0
        stop = len(self.data) if stop < 0 else stop
        line = self.data[self.offset : stop]
        self.offset = min(stop + 1, len(self.data))
        self.line += 1
        return line.removesuffix(b"\r")

    def skip_lines(self, count):
        passed = 0
        while passed < count and self.next_line() is not None:
            passed += 1
        return passed

    def skip(self, size):
        passed = min(size, len(self.data) - self.offset)
        self.offset += passed
        self.lined = False
        return passed

    def peek(self, size):
        return self.data[self.offset : self.offset + size]

    def at_end(self):
        return self.offset == len(self.data)

    def mark(self):
        self.marked = self.offset

    def take(self):
        if self.marked is None:
            raise ValueError
        taken, self.marked = self.data[self.marked : self.offset], None
        return taken


class Trickle(io.BytesIO):
    """Gives fewer bytes than asked for, as a pipe does."""

    def readinto(self, buffer):
        return super().readinto(memoryview(buffer)[:2])


def on_disk(data):
    """A file of which any place can be read again."""
    file = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115 - closed when it is forgotten
    file.write(data)
    file.seek(0)
    return file


STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("next_line")),
        st.tuples(st.just("skip_lines"), st.integers(0, 5) | st.just(10**9)),
        st.tuples(st.just("skip"), st.integers(0, 9) | st.just(10**18)),
        st.tuples(st.just("peek"), st.integers(0, 9)),
        st.tuples(st.just("at_end")),
        st.tuples(st.just("mark")),
        st.tuples(st.just("take")),
    ),
    max_size=25,
)
TEXT = st.lists(st.sampled_from([b"\n", b"\r\n", b"\r", b"a", b"bc", b"long line", b"\n\n"])).map(b"".join)


@both
@thorough
@given(data=TEXT, steps=STEPS, chunk=st.integers(1, 7), kind=st.sampled_from([io.BytesIO, Trickle, on_disk]))
def test_against_the_reference(twin, data, steps, chunk, kind):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(engine, "active", twin)
        patch.setattr(window, "FAR", 1)
        file = kind(data)
        moving = Window(open_stream(None, file=file), chunk=chunk)
        reference = Reference(data)
        for name, *arguments in steps:
            if name == "take" and reference.marked is None:
                with pytest.raises(ValueError, match="no mark"):
                    moving.take()
                continue
            assert getattr(moving, name)(*arguments) == getattr(reference, name)(*arguments)
            assert moving.offset == reference.offset
            assert moving.line == reference.line
            assert moving.terminated == reference.terminated
            assert moving.lined == reference.lined
        file.close()


@pytest.mark.usefixtures("each_engine")
def test_a_frame_of_a_file_on_disk_is_taken_from_there():
    big = b"y" * 99 + b"\n"
    with on_disk(big * 2000) as file:
        moving = Window(open_stream(None, file=file), chunk=1 << 10)
        for _ in range(2):
            moving.mark()
            assert moving.skip_lines(1000) == 1000
            assert len(moving._buffer) <= 2 * window.FAR << 10
            assert moving.take() == big * 1000
        moving.mark()
        assert moving.at_end()
        assert moving.take() == b""


def test_a_file_that_becomes_shorter_meanwhile():
    with on_disk(b"y\n" * 20_000) as file:
        moving = Window(open_stream(None, file=file), chunk=1 << 10)
        moving.mark()
        moving.skip_lines(10_000)
        file.truncate(100)
        with pytest.raises(StreamError, match=r"^the file has become shorter while it was read$"):
            moving.take()


@pytest.mark.usefixtures("each_engine")
def test_memory_is_that_of_a_frame_and_shrinks_again():
    chunk = 1 << 10
    small, big = b"x" * 99 + b"\n", b"y" * 99 + b"\n"
    data = small * 1000 + big * 1000 + small * 1000
    moving = Window(open_stream(None, file=io.BytesIO(data)), chunk=chunk)
    assert moving.skip_lines(1000) == 1000
    assert len(moving._buffer) == chunk
    moving.mark()
    assert moving.skip_lines(1000) == 1000
    assert moving.take() == big * 1000
    assert len(moving._buffer) <= 4 * 1000 * 100
    for _ in range(3):
        moving.mark()
        moving.skip_lines(2)
        assert moving.take() == small * 2
    assert len(moving._buffer) <= 4 * chunk
    assert moving.skip_lines(10**9) == 994
    assert moving.line == 3001
    assert moving.at_end()


@pytest.mark.usefixtures("each_engine")
def test_a_line_without_an_end_is_skipped_in_flat_memory():
    moving = Window(open_stream(None, file=io.BytesIO(b"z" * 100_000)), chunk=100)
    assert moving.skip_lines(5) == 1
    assert not moving.terminated
    assert len(moving._buffer) == 100
    assert moving.next_line() is None


def test_a_file_that_is_no_text(monkeypatch):
    monkeypatch.setattr(window, "LONGEST_LINE", 1 << 20)
    moving = Window(open_stream(None, file=io.BytesIO(b"\1" * (3 << 20))), chunk=1 << 16)
    with pytest.raises(StreamError, match=r"^a line is longer than 1 MiB$"):
        moving.next_line()


def test_bytes_are_skipped_in_flat_memory():
    moving = Window(open_stream(None, file=io.BytesIO(b"\1" * 100_000)), chunk=100)
    assert moving.skip(99_000) == 99_000
    assert moving.offset == 99_000
    assert not moving.at_end()
    assert len(moving._buffer) == 100
    assert moving.skip(10**18) == 1000
    assert moving.at_end()
    assert (moving.line, moving.lined) == (1, False)


def test_marked_bytes_are_kept_and_no_more_than_there_are():
    moving = Window(open_stream(None, file=io.BytesIO(b"head" + b"x" * 5000 + b"tail")), chunk=100)
    assert moving.skip(4) == 4
    moving.mark()
    assert moving.skip(5000) == 5000
    assert moving.take() == b"x" * 5000
    moving.mark()
    assert moving.skip(10**18) == 4
    assert moving.take() == b"tail"
    assert len(moving._buffer) <= 4 * 5000


@both
class TestRuns:
    @pytest.mark.parametrize(
        ("start", "head", "body", "most", "runs"),
        [
            (0, 1, 1, 9, [(2, 5), (7, 10)]),
            (0, 1, 1, 1, [(2, 5)]),
            (2, 2, 1, 9, [(7, 10)]),
            (0, 1, 9, 9, []),
            (0, 0, 4, 9, [(0, 10)]),
            (10, 1, 1, 9, []),
            (0, 1, 1, 0, []),
        ],
    )
    def test_lines_by_the_number(self, twin, start, head, body, most, runs):
        assert twin.find_runs(b"a\nbb\nc\ndd\nrest", start, head, body, most) == runs

    def test_a_start_behind_the_end(self, twin):
        with pytest.raises(ValueError, match="behind the end"):
            twin.find_runs(b"a\n", 3, 1, 1, 1)

    @pytest.mark.parametrize("pieces", [[], [b""], [b"a", b"", b"\0b"], [bytes([k]) * 40000 for k in range(5)]])
    def test_pieces_are_joined(self, twin, pieces):
        assert twin.join(pieces) == b"".join(pieces)
