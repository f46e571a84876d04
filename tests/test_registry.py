"""How formats are found: entry points of installed distributions, content before names."""

import subprocess
import sys
import textwrap

import pytest

from molrec_convert import registry
from molrec_convert.errors import UnknownFormatError
from molrec_convert.sniff import source_adapter, target_adapter

from .converting import ROOT, source_of
from .dumps import THREE

HEAD = THREE.encode()


def test_names_are_listed_without_loading():
    assert registry.names() == sorted(registry.names())
    assert "lammps-dump" in registry.names()


@pytest.mark.parametrize("name", registry.names())
def test_every_adapter_is_described(name):
    adapter = registry.by_name(name)
    assert adapter.name == name
    assert adapter.summary
    assert adapter.summary == adapter.summary.strip().rstrip(".")
    assert adapter.reference.startswith("https://")
    assert adapter.importer is not None or adapter.exporter is not None
    assert adapter.patterns


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("lammps-dmp", "'lammps-dump'"),
        ("lammpsdump", "'lammps-dump'"),
        ("Lammps-Dump", "'lammps-dump'"),
        ("XYZ", "'xyz'?"),
    ],
)
def test_did_you_mean(name, near):
    with pytest.raises(UnknownFormatError) as caught:
        registry.by_name(name)
    assert str(caught.value).startswith(f"there is no format {name!r}, did you mean {near}")


def test_nothing_near():
    with pytest.raises(UnknownFormatError) as caught:
        registry.by_name("qqqqqq")
    assert str(caught.value).startswith(f"there is no format 'qqqqqq'; known are {', '.join(registry.names())}, or ")


@pytest.mark.parametrize("name", ["dump.0", "run.xyz", "run.pdb", "run.data", "a", "run.lammpstrj.gz", "x.h5"])
def test_content_decides(name):
    """Whatever a dump is called."""
    assert source_adapter(name, HEAD).name == "lammps-dump"
    assert source_adapter(name, b"ITEM: UNITS\nreal\n" + HEAD).name == "lammps-dump"
    assert source_adapter(name, b"ITEM: TIME\n0.5\n" + HEAD).name == "lammps-dump"


@pytest.mark.parametrize("name", ["dump.100", "a.dump", "A.DUMP", "a.lammpstrj.zst", "a.dump.100.gz", "a.lammpsdump"])
def test_a_name_decides_where_the_content_does_not(name):
    assert source_adapter(name, b"\x01\x02").name == "lammps-dump"
    assert target_adapter(name).name == "lammps-dump"


@pytest.mark.parametrize(
    ("head", "what"),
    [(b"", "an empty file"), (b"\x01\x02", "unknown"), (b"\x89HDF\r\n\x1a\n" + bytes(99), "HDF5, but no record")],
)
def test_neither_decides(head, what):
    with pytest.raises(UnknownFormatError) as caught:
        source_adapter("what", head)
    assert str(caught.value).startswith(f"what: the format is not recognised ({what}): say --from, one of ")


def test_a_target_of_no_format():
    with pytest.raises(UnknownFormatError) as caught:
        target_adapter("out.what")
    assert str(caught.value).startswith("out.what: the name does not tell the format: say --to, one of ")
    assert "lammps-dump" in str(caught.value)


# ---------------------------------------------------------------- somebody else's format
THIRD_PARTY = '''
"""Numbers: one a line, each a frame of one atom."""
from molrec_convert.adapter import Adapter, Carries, Snapshot, Span
from molrec_convert.errors import FormatError
from molrec_convert.model import Frame


class Importer:
    def __init__(self, path, options):
        self.path = path

    def index(self, window, *, keep):
        assert window.next_line() == b"#numbers"
        ordinal = 0
        while True:
            line, start = window.line, window.offset
            data = window.next_line()
            if data is None:
                return
            yield Span(ordinal, line, start, window.offset - start, None, data if keep else None)
            ordinal += 1

    def decode(self, span):
        try:
            x = float(span.data)
        except ValueError:
            raise FormatError("no number", path=self.path, line=span.line, frame=span.ordinal) from None
        return Snapshot(Frame({"atoms": {"x": [x]}}))


class Exporter:
    def __init__(self, path, options):
        pass

    def head(self, first):
        return b"#numbers\\n"

    def encode(self, snapshot, ordinal):
        return b"%r\\n" % float(snapshot.frame["atoms"]["x"][0])

    def tail(self):
        return b""


FORMAT = Adapter(
    name="numbers", summary="numbers, one a frame", reference="https://example.org", patterns=("*.numbers",),
    sniff=lambda head: head.startswith(b"#numbers"), carries=Carries(columns=frozenset("x"), frames=True),
    importer=Importer, exporter=Exporter,
)
OTHER = Adapter(name="other", summary="", reference="https://example.org")
'''


@pytest.fixture
def numbers(tmp_path):
    """A folder as an installer leaves it; gives what runs Python with it."""
    site = tmp_path / "site"
    site.mkdir()
    (site / "numbers_format.py").write_text(THIRD_PARTY)
    info = site / "numbers_format-0.1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: numbers-format\nVersion: 0.1\n")
    (info / "entry_points.txt").write_text("[molrec_convert.adapters]\nnumbers = numbers_format:FORMAT\n")

    def python(code):
        setup = f"import sys; sys.path.insert(0, {str(site)!r})\n"
        done = subprocess.run(
            [sys.executable, "-P", "-W", "error", "-c", setup + textwrap.dedent(code)],
            cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return done.stdout

    python.site = site
    python.info = info
    return python


def test_a_third_party_is_found(numbers, tmp_path):
    """Its format is read and written like any of ours, and nothing had to be told."""
    source_of(tmp_path, "#numbers\n1.5\n2.5\n1e-3\n", "data.txt")
    source_of(tmp_path, "#numbers\n1.5\nx\n", "bad.numbers")
    printed = numbers(
        """
        import molrec_convert as mc
        from molrec_convert import registry
        assert "numbers" in registry.names()
        mc.convert("data.txt", "out.h5")
        with mc.open("out.h5") as record:
            print([float(frame["atoms"]["x"][0]) for frame in record.trajectory], record.meta["source"]["format"])
        mc.convert("out.h5", "back.numbers")
        mc.convert("data.txt", "one.h5", frames="-1")
        try:
            mc.convert("bad.numbers", "bad.h5")
        except mc.FormatError as error:
            print(error)
        """
    )
    assert printed.splitlines() == ["[1.5, 2.5, 0.001] numbers", "bad.numbers:3 (frame 1): no number"]
    assert (tmp_path / "back.numbers").read_text() == "#numbers\n1.5\n2.5\n0.001\n"


def test_losses_of_a_third_party(numbers, tmp_path):
    source_of(tmp_path, THREE, "in.dump")
    printed = numbers(
        """
        import molrec_convert as mc
        report = mc.convert("in.dump", "out.numbers")
        print(report.losses)
        """
    )
    assert printed == ("not carried by numbers: atoms.id, atoms.type_id, atoms.y, atoms.z, box, step\n")


@pytest.mark.parametrize("value", ["numbers_format:OTHER", "numbers_format:THIRD"])
def test_an_entry_point_that_is_no_adapter(numbers, value):
    (numbers.info / "entry_points.txt").write_text(f"[molrec_convert.adapters]\nnumbers = {value}\n")
    (numbers.site / "numbers_format.py").write_text(THIRD_PARTY + "\nTHIRD = 3\n")
    printed = numbers(
        """
        from molrec_convert import registry
        from molrec_convert.errors import ConvertError
        try:
            registry.by_name("numbers")
        except ConvertError as error:
            print(error)
        """
    )
    assert printed == (f"the entry point 'numbers' of molrec_convert.adapters is no adapter of this name: {value}\n")


def test_the_example_of_the_guide_works():
    """The smallest adapter of adapters/README.md is code that runs."""
    guide = ROOT / "adapters" / "README.md"
    if not guide.exists():
        pytest.skip("there is no guide")
    blocks = guide.read_text().split("```python\n")[1:]
    for block in blocks:
        compile(block.split("```", 1)[0], str(guide), "exec")


def test_a_suffix_leads_to_an_adapter_with_that_pattern():
    from importlib.metadata import entry_points

    hints = entry_points(group=registry.SUFFIXES)
    assert hints
    for hint in hints:
        assert hint.load() in registry.by_file_name(f"x.{hint.name}"), hint.name
