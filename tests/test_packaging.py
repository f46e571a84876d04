"""What is installed, and what the first page promises."""

import io
import re
import shlex
import shutil
import tokenize
import tomllib
from importlib.metadata import entry_points, version

import pytest

import molrec_convert as mc

from .converting import ROOT, run

README = (ROOT / "README.md").read_text(encoding="utf-8")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def blocks(language):
    """The fenced blocks of the first page."""
    return re.findall(rf"```{language}\n(.*?)```", README, re.DOTALL)


def test_the_version_is_one():
    assert mc.__version__ == PROJECT["project"]["version"] == version("molrec-convert")


@pytest.mark.parametrize("group", PROJECT["project"]["entry-points"])
def test_entry_points_are_installed_and_load(group):
    if group.startswith("OVITO."):
        pytest.importorskip("ovito", exc_type=ImportError, reason="OVITO is large, and not always there")
    installed = {entry.name: entry for entry in entry_points(group=group) if entry.dist.name == "molrec-convert"}
    for name, value in PROJECT["project"]["entry-points"][group].items():
        assert name in installed, f"{name} of {group} is not installed: install again"
        assert installed[name].value == value
        assert installed[name].load() is not None


def test_every_adapter_module_is_registered():
    """A module of adapters without an underscore is a format, a family of formats, or objects of a library."""
    registered = {
        value.partition(":")[0].rpartition(".")[2]
        for group in ("molrec_convert.adapters", "molrec_convert.families")
        for value in PROJECT["project"]["entry-points"][group].values()
    }
    modules = {path.stem for path in (ROOT / "adapters").glob("*.py") if not path.stem.startswith("_")}
    assert modules == registered | {"ase_atoms", "mda_universe"}


def test_the_command_is_installed():
    assert PROJECT["project"]["scripts"] == {"molrec-convert": "molrec_convert.cli:main"}
    assert run("--version").stdout.decode().split() == ["molrec-convert", mc.__version__]


def test_the_two_commands_of_the_first_page(tmp_path):
    """The first installs, and was run; the second is run here."""
    first, second = blocks("sh")[0].splitlines()
    assert first == "pip install ."
    words = shlex.split(second)
    assert words[0] == "molrec-convert"
    shutil.copytree(ROOT / "sample_data", tmp_path / "sample_data")
    done = run(*words[1:], cwd=tmp_path)
    assert (done.status, done.stdout) == (0, b"")
    with mc.open(tmp_path / words[2]) as record:
        assert len(record) > 1


def test_the_commands_of_the_first_page_exist():
    """Every option and every command that is shown is one."""
    text = run("convert", "--help").stdout.decode()
    for block in blocks("sh"):
        for line in block.splitlines():
            words = shlex.split(line.partition("#")[0].partition("molrec-convert ")[2])
            known = run("batch", "run", "--help").stdout.decode() if words[:1] == ["batch"] else text
            for word in words:
                if word.startswith("--"):
                    assert word.partition("=")[0] in known or word in ("--all", "--table"), line
    for option in re.findall(r"^\| (.*?) \|", README, re.MULTILINE):
        for word in re.findall(r"--[a-z-]+", option):
            assert word in text, word


def test_the_error_of_the_first_page(tmp_path):
    text = (
        "ITEM: TIMESTEP\n0\nITEM: NUMBER OF ATOMS\n2\nITEM: BOX BOUNDS pp pp pp\n0 1\n0 1\n0 1\n"
        "ITEM: ATOMS id type x y z\n1 1 0 0 0\n2 1 0 0\n"
    )
    (tmp_path / "broken.lammpstrj").write_text(text)
    done = run("broken.lammpstrj", "out.h5", cwd=tmp_path)
    assert f"$ molrec-convert broken.lammpstrj out.h5\n{done.stderr}" in README


FORMATS = re.compile(r"xyz|lammps|pdb|cube", re.IGNORECASE)
"""Names of formats; `test_the_core_names_no_format` looks for them."""


def code_of(path):
    """The code of a module: without comments and docstrings, in which examples may name a format."""
    kept, before = [], tokenize.NEWLINE
    for token in tokenize.generate_tokens(io.StringIO(path.read_text(encoding="utf-8")).readline):
        is_doc = token.type == tokenize.STRING and before in (tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT)
        if token.type != tokenize.COMMENT and not is_doc:
            kept.append(token.string)
        if token.type not in (tokenize.NL, tokenize.COMMENT):
            before = token.type
    return " ".join(kept)


HELP = {"cli/app.py", "cli/convert.py"}
"""The help of the command line shows examples."""


@pytest.mark.parametrize(
    "path",
    [path for path in sorted((ROOT / "molrec_convert").rglob("*.py")) if "integrations" not in path.parts],
    ids=lambda path: str(path.relative_to(ROOT / "molrec_convert")),
)
def test_the_core_names_no_format(path):
    name = str(path.relative_to(ROOT / "molrec_convert"))
    code = code_of(path)
    if name in HELP:
        code = re.sub(r"help = \"[^\"]*\"", "", code)
    # The letters of three axes are no format.
    found = FORMATS.findall(code.replace('"xyz"', "").replace("'xyz'", ""))
    assert not found, found
