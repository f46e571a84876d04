"""MDAnalysis reads and writes records once this is imported.

``mda.Universe("run.h5")`` gives topology and frames, ``u.atoms.write("x.mrec")`` and ``mda.Writer(…, format="MREC")``
write them, ``u.atoms.convert_to("MOLREC")`` makes a record in memory. Records are recognised by their content under
any name; the formats are called ``MREC`` and ``MOLREC``.
"""

from ._opening import source_of
from .converter import MolRecConverter
from .parser import MolRecParser
from .reader import MolRecReader
from .writer import MolRecWriter

__all__ = ["MolRecConverter", "MolRecParser", "MolRecReader", "MolRecWriter", "source_of"]
