"""What an import costs: the core loads no adapter and no heavy library before it is needed."""

import ast
import subprocess
import sys

import pytest

from .converting import ROOT, source_of
from .dumps import THREE

HEAVY = ("ase", "MDAnalysis", "h5py", "zarr", "typer", "rich", "scipy", "distributed", "ovito", "gemmi")
CODE = """
import sys, {module}
{more}
heavy = {heavy!r}
print(sorted(name for name in heavy if name in sys.modules),
      sorted(name for name in sys.modules if name.startswith("molrec_convert.adapters")))
"""


def loaded(module, more="", heavy=HEAVY, cwd=None):
    """The heavy libraries and the adapters that are there after some code ran."""
    code = CODE.format(module=module, more=more, heavy=heavy)
    done = subprocess.run(
        [sys.executable, "-P", "-W", "error", "-c", code],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        cwd=cwd,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.mark.parametrize(
    "module",
    [
        "molrec_convert", "molrec_convert.api", "molrec_convert.convert", "molrec_convert.model",
        "molrec_convert.adapter", "molrec_convert.registry", "molrec_convert.records", "molrec_convert.errors",
        "molrec_convert.text.table", "molrec_convert.mapping.units",
    ],
)  # fmt: skip
def test_the_core_loads_no_adapter_and_nothing_heavy(module):
    assert loaded(module) == "[] []"


def test_the_package_alone_does_not_load_numpy():
    assert loaded("molrec_convert", heavy=(*HEAVY, "numpy")) == "[] []"


def test_the_command_line_loads_what_it_shows():
    """Typer and rich; no reading, no writing, not even numpy."""
    heavy = tuple(name for name in (*HEAVY, "numpy") if name not in ("typer", "rich"))
    assert loaded("molrec_convert.cli", heavy=heavy) == "[] []"


def test_names_of_formats_load_no_adapter():
    assert loaded("molrec_convert.registry", "molrec_convert.registry.names()") == "[] []"


def test_adapters_load_no_heavy_library():
    """All of them, as when a format is looked for."""
    found = loaded("molrec_convert.registry", "molrec_convert.registry.adapters()")
    assert found.startswith("[] ['molrec_convert.adapters', ")


def test_text_to_text_needs_no_hdf5(tmp_path):
    source_of(tmp_path, THREE, "in.dump")
    more = "import molrec_convert as mc; mc.convert('in.dump', 'out.dump')"
    assert loaded("molrec_convert", more, heavy=("h5py", "zarr", "ase", "MDAnalysis"), cwd=tmp_path).startswith("[] ")


CORE = [
    path
    for path in sorted((ROOT / "molrec_convert").rglob("*.py"))
    if "integrations" not in path.parts  # plug-ins of other libraries, which the adapters for these serve as well
]


@pytest.mark.parametrize("path", CORE, ids=lambda path: path.stem)
def test_the_core_imports_no_adapter(path):
    """It reaches them through the registry alone."""
    if not path.exists():
        pytest.skip("the file has gone")
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [node.module or "", *(f"{node.module}.{alias.name}" for alias in node.names)]
        assert not any(name.startswith(("molrec_convert.adapters", "adapters")) for name in names), ast.unparse(node)
