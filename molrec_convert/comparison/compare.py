"""Comparing two files: `diff`."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from itertools import zip_longest

from molrec_convert.errors import OptionError
from molrec_convert.options import Options, checked_guesses
from molrec_convert.registry import layout_keys

from .beside import compare_documents, compare_sections, compare_unknown
from .differences import Compared, Comparison, Log
from .frames import FrameComparer
from .ignoring import Ignored
from .sides import Side, Source, open_sides, same_kind
from .values import Tolerance


def diff(
    a: Source,
    b: Source,
    *,
    tol: float = 0.0,
    rtol: float = 0.0,
    ignore: Iterable[str] = (),
    provenance: bool = False,
    format_a: str | None = None,
    format_b: str | None = None,
    units: str | None = None,
    atom_style: str | None = None,
    type_map: Mapping[str, str] | None = None,
    guess: Iterable[str] = (),
    keep_order: bool = False,
) -> Comparison:
    """Compare what two files mean: records in any form, foreign files, or one of each.

    Frames are compared as they are resolved, whatever stands in ``system`` or in ``trajectory``: their steps and
    times, blocks, columns with type, shape, nulls, precision and targets, meta values with their tags, the cell; then
    units, sections, and what MolRec does not know. How the files lie on disk does not matter, nor does the order of
    blocks, columns and keys; that of rows does. Both are read frame by frame.

    Types of a foreign file are those of one frame, those of a record of all: where one of the two is foreign an
    integer equals the real of its value, and a key or column without a value one that is missing. What only says how
    a foreign file was laid out is compared only between records of the same formats.

    Parameters
    ----------
    a, b
        The files; one may be an open binary stream.
    tol, rtol
        How far reals may be apart: ``|a - b| ≤ max(tol, rtol · max(|a|, |b|))``. By default they are compared to the
        bit, where a NaN equals a NaN and -0.0 is not 0.0. With a tolerance declared precisions are not compared.
    ignore
        What to leave out, by name or pattern: ``bonds``, ``atoms.vx``, ``atoms.v*``, ``meta.pe`` or ``pe``, ``box``,
        ``box.origin``, ``step``, ``time``, ``units``, ``record.title``, ``/forcefield``.
    provenance
        Compare what records say of their making, too: source, creator, options.
    format_a, format_b
        Their formats, where content and name do not tell.
    units, atom_style, type_map, guess, keep_order
        As `convert` takes them, for whichever of the files takes them.

    Returns
    -------
    Comparison
        With ``same``, ``first`` and all ``differences``.

    Raises
    ------
    ConvertError
        Where a file cannot be read; with file, line and frame.
    """
    for name, value in (("tol", tol), ("rtol", rtol)):
        if not (value >= 0.0 and math.isfinite(value)):
            raise OptionError(f"a tolerance is a number that is not negative: {name} is {value!r}")
    options = Options(
        units=units,
        atom_style=atom_style,
        type_map=dict(type_map or {}),
        guess=checked_guesses(tuple(guess)),
        keep_order=keep_order,
    )
    log = Log(Ignored(ignore))
    one, other = open_sides(a, b, (format_a, format_b), options)
    try:
        untold = _compared(one, other, log, Tolerance(tol, rtol), provenance=provenance)
        warnings = [*one.warnings(), *other.warnings()]
    finally:
        one.found.close()
        other.found.close()
    if untold:
        warnings.append(f"not compared, being of types that MolRec does not have: {', '.join(untold)}")
    if unmatched := log.ignored.unmatched():
        warnings.append(f"nothing to ignore is called {' or '.join(map(repr, unmatched))}")
    return Comparison(
        a=Compared(one.name, one.found.format, one.frames),
        b=Compared(other.name, other.found.format, other.frames),
        tol=tol,
        rtol=rtol,
        differences=tuple(log),
        warnings=tuple(dict.fromkeys(warnings)),
    )


def _compared(a: Side, b: Side, log: Log, tolerance: Tolerance, *, provenance: bool) -> list[str]:
    """Compare all; give the places that cannot be compared."""
    raw = same_kind(a, b)
    layout = frozenset[str]() if provenance or (raw and a.formats == b.formats) else layout_keys(a.formats | b.formats)
    comparer = FrameComparer(log, tolerance, loose=not raw, layout=layout)
    _compare_frames(a, b, log, comparer, raw=raw)
    if "frames" not in log.ignored and a.frames != b.frames:
        log.add("frames", "value", a.frames, b.frames)
    compare_documents(a, b, log, provenance=provenance)
    if raw and a.record is not None and b.record is not None:
        comparers = {
            name: FrameComparer(log, tolerance, loose=False, layout=layout, prefix=f"{name}/")
            for name in ("frame", "system")
        }
        compare_sections(a.record, b.record, log, comparers, framed=bool(a.frames and b.frames), seen=comparer.seen)
    return compare_unknown(a.record, b.record, log)


def _compare_frames(a: Side, b: Side, log: Log, comparer: FrameComparer, *, raw: bool) -> None:
    with ThreadPoolExecutor(max_workers=2) as executor:
        frames = zip_longest(a.snapshots(executor, raw=raw), b.snapshots(executor, raw=raw))
        for ordinal, (one, other) in enumerate(frames):
            if one is not None and other is not None:
                log.frame, log.step = ordinal, one.step
                comparer.compare(one, other)
    log.frame = log.step = None
