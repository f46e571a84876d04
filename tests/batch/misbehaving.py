"""A format of another distribution whose files say how a worker is to end: for the tests of what a worker can do."""

import os
import textwrap

CODE = """
import ctypes, os, signal, sys, time
from molrec_convert.adapter import Adapter, Carries, Snapshot, Span
from molrec_convert.errors import FormatError
from molrec_convert.model import Frame

class Importer:
    def __init__(self, path, options):
        pass

    def index(self, window, *, keep):
        window.mark()
        while window.skip_lines(1 << 20):
            pass
        yield Span(0, 1, 0, window.offset, data=window.take())

    def decode(self, span):
        word, _, rest = span.data.decode().split("\\n")[1].partition(" ")
        if word == "segfault":
            ctypes.string_at(0)
        elif word == "exit":
            sys.stderr.write("this is the end\\n")
            sys.stderr.flush()
            os._exit(int(rest))
        elif word == "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        elif word == "hang":
            time.sleep(600)
        elif word == "memory":
            raise MemoryError
        elif word == "fault":
            raise ValueError("what  is\\nthis")
        elif word == "recurse":
            return self.decode(span)
        elif word == "print":
            print("a line that is no answer", flush=True)
            os.system("echo nor is this")
        elif word == "sleep":
            time.sleep(float(rest))
        return Snapshot(Frame({"atoms": {"x": [0.0], "y": [0.0], "z": [0.0]}}))

FORMAT = Adapter(
    name="misbehaving", summary="files that end workers", reference="https://example.org", patterns=("*.bad",),
    sniff=lambda head: head.startswith(b"misbehave\\n"), series=False, carries=Carries(), importer=Importer,
)
"""


def install(folder):
    """Make a folder that a process finds the format in; give what its environment is to have."""
    (folder / "misbehaving_format.py").write_text(CODE)
    about = folder / "misbehaving_format-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: misbehaving-format\nVersion: 1.0\n")
    entry = "[molrec_convert.adapters]\nmisbehaving = misbehaving_format:FORMAT\n"
    (about / "entry_points.txt").write_text(textwrap.dedent(entry))
    return {**os.environ, "PYTHONPATH": str(folder)}


def bad(word):
    """A file of the format."""
    return f"misbehave\n{word}\n"
