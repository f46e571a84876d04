"""Archives for the tests: small files of several formats, good and bad, in folders and packed."""

import io
import random
import tarfile
import zipfile
from pathlib import Path

import molrec_convert as mc
from molrec_convert.batch.status import rows_of

from ..converting import ROOT, run

SAMPLES = ROOT / "sample_data"
CUT = "2\n\nO 0 0 0\n"
"""A structure that ends inside its only frame."""
BAD = "2\n\nO 0 0 0\nO 0 zero 0\n"
DUMP = (
    "ITEM: TIMESTEP\n{step}\nITEM: NUMBER OF ATOMS\n2\nITEM: BOX BOUNDS pp pp pp\n0 4\n0 4\n0 4\n"
    "ITEM: ATOMS id type x y z\n1 1 0 0 0\n2 1 0.5 1.5 {z}\n"
)
DATA = (
    "LAMMPS data file\n\n2 atoms\n1 atom types\n1 bonds\n1 bond types\n\n0 4 xlo xhi\n0 4 ylo yhi\n0 4 zlo zhi\n\n"
    "Masses\n\n1 28.085\n\nAtoms # full\n\n1 1 1 0.25 0 0 0\n2 1 1 -0.25 0.5 1.5 2\n\nBonds\n\n1 1 1 2\n"
)


def atoms(count=2, *, element="O", shift=0.0):
    """A file of one frame."""
    rows = "".join(f"{element} {k + shift:.3f} {k * 0.5:.3f} 0.125\n" for k in range(count))
    return f"{count}\nenergy={-count}.5\n{rows}"


def dump(frames=3):
    """A trajectory of some frames."""
    return "".join(DUMP.format(step=10 * k, z=k) for k in range(frames))


def put(folder, files):
    """Write files, by their paths; give the folder."""
    for name, content in files.items():
        path = Path(folder, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    return Path(folder)


def tar(path, files, *, mode="w:gz"):
    """A tar of files; a header may stand for a file."""
    with tarfile.open(path, mode) as archive:
        for name, content in files.items():
            if isinstance(content, tarfile.TarInfo):
                archive.addfile(content)
                continue
            data = content.encode() if isinstance(content, str) else content
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return path


def header(name, kind, *, link=""):
    """A member that is no file."""
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, link
    return info


def packed(files):
    """A zip of files, as bytes."""
    found = io.BytesIO()
    with zipfile.ZipFile(found, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return found.getvalue()


def mixed(folder, count, *, seed=1):
    """Files of several formats in folders, a tar and a zip; some are bad, some are of no format."""
    chosen = random.Random(seed)
    samples = sorted(path for path in SAMPLES.rglob("*") if path.is_file() and path.suffix != ".md")
    samples = [path for path in samples if path.stat().st_size < 60_000]
    files: dict[str, bytes] = {}
    for k in range(count):
        place = f"lab{chosen.randrange(3)}/{2000 + k // 20}"
        if k % 9 == 0:
            files[f"{place}/bad{k}.xyz"] = (BAD, CUT)[k % 2].encode()
        elif k % 13 == 0:
            files[f"{place}/notes{k}.txt"] = b"what was done that year\n"
        elif k % 4 == 0:
            files[f"{place}/run{k}.dump"] = dump(k % 5 + 1).encode()
        else:
            path = samples[k % len(samples)]
            files[f"{place}/{k}-{path.name}"] = path.read_bytes()
    labs = [{name: data for name, data in files.items() if name.startswith(f"lab{lab}/")} for lab in range(3)]
    put(folder, labs[0])
    tar(Path(folder, "lab1.tar.gz"), labs[1])
    Path(folder, "lab2.zip").write_bytes(packed(labs[2]))
    return Path(folder)


def batch(*words, cwd=None, status=0):
    """The command, which ends with a status."""
    done = run("batch", *words, cwd=cwd)
    assert done.status == status, done.stderr
    return done


def by_source(out):
    """The rows of a journal by source, without the first folder."""
    return {row["source"].partition("/")[2] or row["source"]: row for row in rows_of(out)}


def states(out):
    """The state of every source."""
    return {source: row["state"] for source, row in by_source(out).items()}


def records(out):
    """The records of a migration."""
    return sorted(path.relative_to(out).as_posix() for path in Path(out).rglob("*.h5"))


def tree(out):
    """The content of all that a migration leaves for good, apart from what has times in it."""
    files = [path for path in Path(out).rglob("*") if path.is_file()]
    timed = ("journal.sqlite", "report.html")
    return {path.relative_to(out).as_posix(): path.read_bytes() for path in files if path.name not in timed}


def lasting(out):
    """The rows of a journal without times."""
    gone = ("seconds", "finished", "attempts")
    return [{key: value for key, value in row.items() if key not in gone} for row in rows_of(out)]


def assert_same(source, record, **options):
    """A record says what its source says."""
    found = mc.diff(source, record, **options)
    assert found.same, found.first
