"""Names of sources as text, and names of records: what a person reads, whatever bytes a file system holds."""

from __future__ import annotations

import hashlib
import os

from molrec_convert.forms import ZIP, form_of_name
from molrec_convert.registry import uncompressed_name

INSIDE = "!/"
"""Stands between an archive and its members."""
LONGEST = 200
"""Bytes of the longest name of a record: most file systems hold 255, and a suffix and a mark are added."""


def printable(name: str | bytes) -> str:
    r"""A name as text that can be printed and stored: bytes that are no UTF-8 and control characters as escapes.

    >>> printable(b"caf\xe9\n.xyz")
    'caf\\xe9\\n.xyz'
    """
    text = (name if isinstance(name, bytes) else os.fsencode(name)).decode("utf-8", "backslashreplace")
    return "".join(each if each.isprintable() else each.encode("unicode_escape").decode() for each in text)


def stem_of(name: str) -> str:
    """A file's name without the suffixes of its compression and its format.

    >>> stem_of("run.1.lammpstrj.gz"), stem_of("run.mrec.zip"), stem_of("POSCAR"), stem_of(".hidden")
    ('run.1', 'run', 'POSCAR', '.hidden')
    """
    plain = name[: -len(".zip")] if form_of_name(name) is ZIP else uncompressed_name(name) or name
    stem = plain.rpartition(".")[0]
    return stem or plain


def mark_of(source: str) -> str:
    """Eight letters that tell a source from all others of the same name."""
    return hashlib.sha256(source.encode()).hexdigest()[:8]


def candidates(source: str, name: str, suffix: str, *, alone: bool) -> list[str]:
    """The names that a record may have, the best first.

    Parameters
    ----------
    source
        The source as the journal names it.
    name
        The name of its file.
    suffix
        That of records.
    alone
        Whether no other file of its folder has the same stem.
    """
    mark = mark_of(source)
    full = _cut(name)
    first = [_cut(stem_of(name)) + suffix] if alone else []
    return [*first, full + suffix, f"{full}-{mark}{suffix}"]


def _cut(name: str) -> str:
    """A name that is not too long for a file system once more is added."""
    data = name.encode()
    return name if len(data) <= LONGEST else data[:LONGEST].decode("utf-8", "ignore") + "-" + mark_of(name)
