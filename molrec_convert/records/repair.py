"""Mends a record whose writer was killed: the file says again that it is closed, and where it ends.

A killed writer leaves the file marked as open, and the library then refuses it. The 44 fixed bytes of the superblock
are all that is wrong: commits are made so that every committed frame is whole at any moment.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import numpy as np

from molrec_convert.errors import RecordError
from molrec_convert.forms import ZARR, ZIP, form_of_content, form_of_name

from . import layout
from .append import cut_arrays
from .report import RepairReport
from .store import open_record
from .superblock import END_OF_FILE, SIGNATURE, is_version_3, mended, superblock
from .tree import Group, groups_of

if sys.platform != "win32":
    import fcntl


def repair(path: str | Path) -> RepairReport:
    """Mend a record that was not closed; one that was is left as it is.

    Raises
    ------
    RecordError
        If it is no record, even when a superblock of version 3 is mended.
    """
    form = form_of_content(path)
    if form is None and (os.path.isdir(path) or (os.path.isfile(path) and form_of_name(path) is ZIP)):
        form = ZIP  # no record: the reader says what it lacks
    if form is ZIP:
        with open_record(path, strict=False) as record:
            return RepairReport(len(record), False, ())
    if form is ZARR:
        from .zarr_repair import repair_folder

        return repair_folder(path)
    done: list[str] = []
    head = superblock(path)
    if not head.startswith(SIGNATURE):
        raise RecordError("not an HDF5 file", path=path)
    size = os.path.getsize(path)
    if is_version_3(head):
        fixed = mended(head, max(size, int.from_bytes(head[END_OF_FILE : END_OF_FILE + 8], "little")))
        if head != fixed:
            _check_marker(path)
            _check_is_free(path)
            _rewrite(path, fixed)
            done.append("the mark of an open file was taken off")
    try:
        frames, more = _settle(path)
    except BaseException:
        if done:
            _rewrite(path, head)  # what cannot be mended stays as it was
        raise
    return RepairReport(frames, bool(done), (*done, *more))


def _check_marker(path: str | Path) -> None:
    """Refuse to touch a file that another program left open."""
    from .hdf5_remarks import HEAD, MARKER  # h5py is heavy

    with Path(path).open("rb") as stream:
        if MARKER.encode() not in stream.read(HEAD):
            raise RecordError(f"no record: there is no {MARKER} within its first {HEAD} bytes", path=path, rule=38)


def _check_is_free(path: str | Path) -> None:
    """Refuse to touch a file whose writer is at work: the library holds a lock as long as it has the file open."""
    if sys.platform == "win32":
        return
    with Path(path).open("r+b") as stream:
        try:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise RecordError("another program is writing it", path=path) from None
        except OSError:
            return  # a file system without locks


def _rewrite(path: str | Path, head: bytes) -> None:
    with Path(path).open("r+b") as stream:
        stream.write(head)
        stream.flush()
        os.fsync(stream.fileno())


def _settle(path: str | Path) -> tuple[int, tuple[str, ...]]:
    """Count the frames; take away a lone index array, which a writer that was killed between two names left."""
    from .hdf5 import Hdf5Store  # h5py is heavy
    from .stored import StoredRecord  #

    done: list[str] = []
    with closing(Hdf5Store.open(path)) as store:
        unfinished = any(store.root.child(name) is not None for name in store.own_children)
        lone = _lone_index_arrays(store.root)
    if lone or unfinished:
        with closing(Hdf5Store.open(path, writable=True)) as store:
            if store.drop_stage():
                done.append("arrays that were not finished were taken away")
            for group, name in _lone_index_arrays(store.root):
                group.delete(name)
                done.append(f"{layout.joined(group.place, name)} had no partner and was taken away")
    with closing(Hdf5Store.open(path)) as store:
        overlong = list(_overlong_index_arrays(store.root))
    if overlong:
        cut_arrays(path, overlong)
        done += [f"{layout.joined(place, name)} had rows that were never written" for place, name, _ in overlong]
    with StoredRecord(Hdf5Store.open(path), str(path), strict=False) as record:
        return len(record), tuple(done)


def _overlong_index_arrays(root: Group) -> Iterator[tuple[str, str, int]]:
    """The indices that end with rows of no update, and how many rows before are of one.

    A kill between two writes of the library can leave an array longer than its chunks, which then reads as zeros.
    Updates of committed frames ascend, and all of them stand before.
    """
    trajectory = root.group(layout.TRAJECTORY)
    for group in groups_of(trajectory).values() if trajectory is not None else ():
        array = group.array(layout.STEP_INDEX)
        if array is None or array.shape[0] < 2:
            continue
        values = array.read(0, array.shape[0])
        wrong = values[1:] <= values[:-1]
        if wrong.any():
            yield group.place, layout.STEP_INDEX, int(np.argmax(wrong)) + 1


def _lone_index_arrays(root: Group) -> list[tuple[Group, str]]:
    trajectory = root.group(layout.TRAJECTORY)
    lone = []
    for group in groups_of(trajectory).values() if trajectory is not None else ():
        present = [name for name in (layout.STEP_INDEX, layout.OFFSET) if group.child(name) is not None]
        if len(present) == 1 and layout.UNIFORM_ROWS in group.attributes:
            lone.append((group, present[0]))
    return lone
