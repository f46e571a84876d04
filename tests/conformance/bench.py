# mypy: disable-error-code="union-attr, index, arg-type, list-item"
"""What a case does with a record: write it, read it back, break it."""

from contextlib import contextmanager

import pytest

import molrec_convert as mc
from molrec_convert.errors import RecordError
from molrec_convert.model import Schema
from molrec_convert.records import create, open_record

from ..records.trees import changing, path_of


def read_all(path):
    """Everything that a record holds."""
    with open_record(path) as record:
        frames = [] if record.trajectory is None else list(record.trajectory)
        return record.meta, record.frame, record.system, frames


class Bench:
    """A place for one record of one form."""

    def __init__(self, folder, form):
        self.folder = folder
        self.form = form
        self.path = path_of(folder, form)

    def write(self, *, frame=None, system=None, meta=None, schema=None, frames=None, steps=None, times=None):
        """Write a record in place of the last."""
        with self.writing(frame=frame, system=system, meta=meta) as writer:
            if frames is None:
                return
            trajectory = writer.begin_trajectory(schema or Schema.of(frames))
            for i, each in enumerate(frames):
                step = i if steps is None else steps[i]
                trajectory.append(each, step=step, time=None if times is None else times[i])

    @contextmanager
    def writing(self, *, frame=None, system=None, meta=None):
        """A record with these sections, to go on with."""
        self.path = path_of(self.folder, self.form, f"{self.path.name.split('.')[0]}x")
        with create(self.path, meta=meta or {}) as writer:
            for name, section in (("system", system), ("frame", frame)):
                if section is not None:
                    writer.set_section(name, section)
            yield writer

    def reading(self):
        """The record, opened; it keeps every rule, or is said to break one."""
        assert [found for found in mc.validate(self.path) if found.severity == "error"] == []
        return open_record(self.path)

    @contextmanager
    def change(self):
        """The tree of the record, to be changed behind the library's back."""
        with changing(self.path) as tree:
            yield tree

    def comes_back(self, frame):
        """The frame is written, and read as it was."""
        self.write(frame=frame)
        with self.reading() as record:
            assert record.frame.same(frame), f"{record.frame!r} is not {frame!r}"
            return record.frame

    def trajectory_comes_back(self, frames, due=None, **options):
        """The frames are written, and read as they were, or as `due` has them."""
        self.write(frames=frames, **options)
        with self.reading() as record:
            found = list(record.trajectory)
        for i, (one, other) in enumerate(zip(found, due or frames, strict=True)):
            assert one.same(other), f"frame {i}: {one!r} is not {other!r}"

    def is_refused(self, words, place):
        """Reader and validator refuse the record, and name the place."""
        with pytest.raises(RecordError) as caught:
            read_all(self.path)
        assert words in caught.value.message, str(caught.value)
        assert caught.value.place == place, str(caught.value)
        assert place in {found.place for found in mc.validate(self.path) if found.severity == "error"}

    def writer_refuses(self, words, **parts):
        """The writer refuses the record."""
        with pytest.raises(RecordError, match=words):
            self.write(**parts)


def cases_of(module):
    """The functions ``case_…`` by the id of their case."""
    return {name[5:].replace("_", "-"): case for name, case in module.items() if name.startswith("case_")}
