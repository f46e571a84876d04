"""What a file is: a format, an archive, or nothing that can be migrated."""

from __future__ import annotations

from dataclasses import dataclass
from typing import BinaryIO

from molrec_convert import registry
from molrec_convert.errors import ConvertError, UnknownFormatError
from molrec_convert.forms import ZIP, form_of_head
from molrec_convert.sniff import HEAD, source_adapter
from molrec_convert.text.faults import StreamError
from molrec_convert.text.streams import open_stream

from .archives import archive_kind
from .walk import said

COMMON = frozenset(
    ("cfg", "config", "con", "dat", "db", "gen", "in", "inp", "json", "log", "md", "out", "res", "restart", "sys",
     "txt", "xml", "yaml", "yml")
)  # fmt: skip
"""Ends of names that so many programs use that they tell nothing, though some formats count them among theirs."""


@dataclass(frozen=True, slots=True)
class Kind:
    """What was recognised.

    Parameters
    ----------
    format
        The format.
    role
        See `molrec_convert.adapter.Role`.
    doubtful
        Whether only a name that tells little speaks for the format: a file of which no frame can be read is of none.
    archive
        ``tar`` or ``zip``.
    refused, skipped
        As for `walk.Entry`.
    """

    format: str | None = None
    role: str | None = None
    doubtful: bool = False
    archive: str | None = None
    refused: str | None = None
    skipped: str | None = None


def recognised(file: BinaryIO, name: str) -> Kind:
    """Look at the first bytes of an open file, decompressed, and at its name."""
    try:
        head = _head(file, name)
    except OSError as error:
        return Kind(refused=said(error))
    archive = archive_kind(name, head)
    if name.lower().endswith(ZIP.suffixes) and archive == "zip":
        return Kind(format=ZIP.name)
    if archive in ("tar", "zip"):
        return Kind(archive=archive)
    if archive is not None:
        return Kind(refused=f"a {archive} archive, which is not read: unpack it first")
    form = form_of_head(head)
    if form is not None and form is not ZIP:
        return Kind(format=form.name)
    return _format_of(name, head)


def _head(file: BinaryIO, name: str) -> bytes:
    """The first bytes; fewer of a file whose compressed data is damaged."""
    stream = open_stream(None, file=file, name=name)
    head = b""
    try:
        while len(head) < HEAD and (more := stream.read(HEAD - len(head))):
            head += more
    except StreamError:
        pass  # converting it says what is wrong, and where
    return head


def _format_of(name: str, head: bytes) -> Kind:
    try:
        adapter = source_adapter(name, head)
    except UnknownFormatError as error:
        if registry.by_content(head, name) or registry.by_file_name(name):
            return Kind(refused=error.message)
        return Kind(skipped=error.message.partition(": say")[0])
    except ConvertError as error:  # a library that is not installed
        return Kind(refused=error.message)
    except Exception as error:  # noqa: BLE001 - what stumbles over one file must not stop the rest
        said = " ".join(f"{type(error).__name__}: {error}".split())
        return Kind(refused=f"a fault of this program, or of a format's, in recognising it: {said}")
    suffix = registry.uncompressed_name(name).rpartition(".")[2].lower()
    certain = suffix not in COMMON or (adapter.sniff is not None and adapter.sniff(head))
    return Kind(format=adapter.name, role=adapter.role, doubtful=not certain)
