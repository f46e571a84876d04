"""The superblock of an HDF5 file, version 3: is it marked as open, and how is it mended.

Source: "HDF5 File Format Specification Version 3.0", II.A. The checksum is Bob Jenkins' lookup3 (hashlittle), from his
public description: https://burtleburtle.net/bob/c/lookup3.c (public domain).
"""

from __future__ import annotations

import struct
from pathlib import Path

SIGNATURE = b"\x89HDF\r\n\x1a\n"
SIZE = 48
FLAGS, END_OF_FILE, CHECKSUM = 11, 28, 44
MASK = 0xFFFFFFFF


def lookup3(data: bytes, start: int = 0) -> int:
    """The 32-bit hash that HDF5 keeps as a checksum of its metadata."""
    a = b = c = (0xDEADBEEF + len(data) + start) & MASK
    blocks = max(0, (len(data) - 1) // 12)
    for k in range(blocks):
        x, y, z = struct.unpack_from("<3I", data, 12 * k)
        a, b, c = _mixed((a + x) & MASK, (b + y) & MASK, (c + z) & MASK)
    tail = data[12 * blocks :]
    if not tail:
        return c
    x, y, z = struct.unpack("<3I", tail.ljust(12, b"\0"))
    return _final((a + x) & MASK, (b + y) & MASK, (c + z) & MASK)


def _turned(value: int, bits: int) -> int:
    return (value << bits | value >> (32 - bits)) & MASK


def _mixed(a: int, b: int, c: int) -> tuple[int, int, int]:
    a = (a - c) & MASK ^ _turned(c, 4)
    c = (c + b) & MASK
    b = (b - a) & MASK ^ _turned(a, 6)
    a = (a + c) & MASK
    c = (c - b) & MASK ^ _turned(b, 8)
    b = (b + a) & MASK
    a = (a - c) & MASK ^ _turned(c, 16)
    c = (c + b) & MASK
    b = (b - a) & MASK ^ _turned(a, 19)
    a = (a + c) & MASK
    c = (c - b) & MASK ^ _turned(b, 4)
    b = (b + a) & MASK
    return a, b, c


def _final(a: int, b: int, c: int) -> int:
    c = ((c ^ b) - _turned(b, 14)) & MASK
    a = ((a ^ c) - _turned(c, 11)) & MASK
    b = ((b ^ a) - _turned(a, 25)) & MASK
    c = ((c ^ b) - _turned(b, 16)) & MASK
    a = ((a ^ c) - _turned(c, 4)) & MASK
    b = ((b ^ a) - _turned(a, 14)) & MASK
    return ((c ^ b) - _turned(b, 24)) & MASK


def superblock(path: str | Path) -> bytes:
    """The first bytes of a file, fewer than 48 if it is shorter."""
    with Path(path).open("rb") as stream:
        return stream.read(SIZE)


def is_version_3(head: bytes) -> bool:
    """Whether these bytes are a superblock of version 3 with 8-byte addresses."""
    return len(head) == SIZE and head.startswith(SIGNATURE) and head[8:11] == b"\x03\x08\x08"


def is_marked_open(path: str | Path) -> bool:
    """Whether the file says that a writer has it open, or that its writer was killed."""
    head = superblock(path)
    return is_version_3(head) and head[FLAGS] != 0


def mended(head: bytes, size: int) -> bytes:
    """The superblock of a closed file of this size."""
    fixed = bytearray(head)
    fixed[FLAGS] = 0
    struct.pack_into("<Q", fixed, END_OF_FILE, size)
    struct.pack_into("<I", fixed, CHECKSUM, lookup3(bytes(fixed[:CHECKSUM])))
    return bytes(fixed)
