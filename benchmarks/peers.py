"""What a user would run instead: for each kind of work, a small script for each library.

A script gets the source and the target as arguments, and makes of the source what is nearest to a record there. What
its name has in brackets is what it does, where it does less.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

Scripts = Mapping[str, str]

START = "import sys; source, target = sys.argv[1:3]\n"

COPY = START + "import shutil; shutil.copyfile(source, target)\n"
"""The physical limit: the same bytes, moved."""

_CHEMFILES = """
import chemfiles
with chemfiles.Trajectory(source, "r", {kind!r}) as frames, chemfiles.Trajectory(target + ".nc", "w") as out:
    for _ in range(frames.nsteps): out.write(frames.read())
"""
_OVITO = """
from ovito.io import import_file
pipeline = import_file(source)
for i in range(pipeline.source.num_frames): pipeline.compute(i).particles.positions[0]
"""
_ASE = """
import ase.io
from ase.io.trajectory import Trajectory
with Trajectory(target + ".traj", "w") as out:
    for atoms in ase.io.iread(source, index=":", format={kind!r}): out.write(atoms)
"""
_MDANALYSIS = """
import warnings; warnings.filterwarnings("ignore")
import MDAnalysis as mda
u = mda.Universe(source, {options})
with mda.Writer(target + ".dcd", n_atoms=len(u.atoms)) as out:
    for ts in u.trajectory: out.write(u.atoms)
"""
_MOLRS = """
import pathlib
from molrs.io import lammps, mrec, xyz
frames = {reader}(pathlib.Path(source))
writer = mrec.MrecWriter(pathlib.Path(target + ".mrec"), mrec.SequenceSchema.from_frames([frames[0]]))
for i in range(len(frames)): writer.append(frames[i], step=i)
writer.close()
"""
_MDTRAJ = """
import mdtraj
mdtraj.load(source{options}).save(target + ".dcd")
"""


def _scripts(**each: str) -> Scripts:
    return MappingProxyType({name.replace("_only", " (reads only)"): START + text for name, text in each.items()})


IMPORTS: Mapping[str, Scripts] = MappingProxyType(
    {
        "dump": _scripts(
            chemfiles=_CHEMFILES.format(kind="LAMMPS"),
            ovito_only=_OVITO,
            molrs=_MOLRS.format(reader="lammps.LammpsDumpReader"),
            ase=_ASE.format(kind="lammps-dump-text"),
            mdanalysis=_MDANALYSIS.format(
                options='format="LAMMPSDUMP", topology_format="LAMMPSDUMP", lengthunit="A", timeunit="fs"'
            ),
        ),
        "xyz": _scripts(
            chemfiles=_CHEMFILES.format(kind=""),
            ovito_only=_OVITO,
            molrs=_MOLRS.format(reader="xyz.XyzReader"),
            ase=_ASE.format(kind="extxyz"),
            mdanalysis=_MDANALYSIS.format(options=""),
        ),
        "extxyz": _scripts(
            libatoms_only="\nimport extxyz\nfor frame in extxyz.iread_dicts(source): pass\n",
            chemfiles=_CHEMFILES.format(kind=""),
            ovito_only=_OVITO,
            ase=_ASE.format(kind="extxyz"),
        ),
        "pdb": _scripts(
            gemmi_only="\nimport gemmi\ngemmi.read_pdb(source)\n",
            chemfiles=_CHEMFILES.format(kind="PDB"),
            ovito_only=_OVITO,
            mdanalysis=_MDANALYSIS.format(options=""),
            mdtraj=_MDTRAJ.format(options=""),
            ase=_ASE.format(kind="proteindatabank"),
        ),
        "cube": _scripts(
            ase_only="\nfrom ase.io.cube import read_cube_data\nread_cube_data(source)\n",
            ovito_only=_OVITO,
        ),
    }
)

EXPORTS: Mapping[str, Scripts] = MappingProxyType(
    {
        "xyz": _scripts(
            chemfiles="\nimport chemfiles\n"
            'with chemfiles.Trajectory(source + ".nc") as frames, chemfiles.Trajectory(target, "w", "XYZ") as out:\n'
            "    for _ in range(frames.nsteps): out.write(frames.read())\n",
            ase="\nimport ase.io\nase.io.write(target, ase.io.read(source + '.traj', ':'), format='extxyz')\n",
        ),
        "pdb": _scripts(
            chemfiles="\nimport chemfiles\n"
            'with chemfiles.Trajectory(source + ".nc") as frames, chemfiles.Trajectory(target, "w", "PDB") as out:\n'
            "    for _ in range(frames.nsteps): out.write(frames.read())\n",
        ),
    }
)
"""From the binary file that the same library makes of the same frames, to text."""

KEPT: Mapping[str, str] = MappingProxyType({"chemfiles": ".nc", "ase": ".traj"})
"""What the import scripts append to the name of their target."""
