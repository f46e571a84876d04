"""The command line: it translates arguments, errors and reports, and does nothing else."""

from __future__ import annotations

import atexit
import gc
import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

from molrec_convert.headstart import HeadStart

from .names import COMMANDS, DEFAULT


def _terminated(number: int, _frame: object) -> None:
    """End as an error does, so that nothing half-written is left where a queue ends a job."""
    sys.exit(128 + number)


def main() -> None:
    """Run the command line."""
    # The threads that numpy's linear algebra starts wait by spinning, on cores that decode; nothing here needs them.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    signal.signal(signal.SIGTERM, _terminated)
    gc.freeze()  # the modules stay; looking at them again and again costs a tenth of a short conversion
    gc.set_threshold(200_000, 20, 20)
    atexit.register(gc.freeze)  # nor are they looked at when all ends, which takes as long
    begun = _begun(sys.argv[1:])
    from .app import app  # what reads arguments takes a while to load

    app(prog_name="molrec-convert", obj=begun)


def _begun(words: Sequence[str]) -> HeadStart | None:
    """The checksum of what seems to be the source of a conversion; whoever reads the arguments tells whether it is."""
    if words and words[0] in COMMANDS and words[0] != DEFAULT:
        return None
    path = next((Path(word) for word in words if os.path.isfile(word)), None)
    return None if path is None else HeadStart(path)
