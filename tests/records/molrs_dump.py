"""Prints what the reference implementation reads of records, as JSON; run by a Python that has it.

    python molrs_dump.py RECORD…            one JSON object for each record, one a line
    python molrs_dump.py --append RECORD N  append N copies of the last frame, each with one more row of atoms

The form is that of the interop fixtures: typed JSON, in which wide integers are decimal strings, what JSON has no
number for is a word, and a complex number is a list of two.
"""

import json
import math
import sys
from pathlib import Path

import numpy as np
from molrs.core import Block
from molrs.io import mrec

DTYPES = {"float64": "f64", "complex64": "c64", "complex128": "c128", "bool": "bool",
          **{f"int{bits}": f"i{bits}" for bits in (8, 16, 32, 64)},
          **{f"uint{bits}": f"u{bits}" for bits in (8, 16, 32, 64)}}  # fmt: skip


def number(value):
    if isinstance(value, complex):
        return [number(value.real), number(value.imag)]
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) > 2**53:
        return str(value)
    return value


def column(block, name):
    values = np.asarray(block[name])
    dtype = DTYPES.get(values.dtype.name, "string")
    found = {"dtype": dtype, "shape": list(values.shape), "values": [number(v) for v in values.ravel().tolist()]}
    validity = block.validity(name)
    if validity is not None:
        found["validity"] = validity.tolist()
    if dtype == "f64" and block.precision(name) is not None:
        found["precision"] = block.precision(name)
    return found


def blocks_of(frame):
    found = {}
    for name in frame.keys():  # noqa: SIM118 - a frame is no mapping
        block = frame[name]
        columns = {key: column(block, key) for key in block.keys()}  # noqa: SIM118
        found[name] = {"count": block.n_rows, "columns": columns}
        if block.structural_shape is not None:
            found[name]["structural_shape"] = list(block.structural_shape)
        if block.targets():
            found[name]["targets"] = block.targets()
    return found


def meta_value(value, tag):
    if tag == "json":
        return value
    return [number(v) for v in value] if isinstance(value, list | tuple | np.ndarray) else number(value)


def frame_of(frame):
    box = frame.box
    found = {"blocks": blocks_of(frame), "box": None, "meta": {}}
    if box is not None:
        found["box"] = {"vectors": box.matrix.tolist(), "origin": box.origin.tolist(), "boundary": box.pbc.tolist(),
                        "cell_defined": box.is_cell_defined}  # fmt: skip
    for key, typed in frame.meta.typed().items():
        found["meta"][key] = {"tag": typed.dtype, "value": meta_value(typed.value, typed.dtype)}
    return found


def record_of(path):
    file = mrec.MrecFile(path)
    found = {"meta": dict(file.meta().items()), "frame": None, "system": None, "trajectory": None}
    for name in ("frame", "system"):
        if name in file.sections():
            found[name] = frame_of(getattr(file, name)())
    if "trajectory" in file.sections():
        reader = mrec.MrecReader(path)
        time = reader.time
        found["trajectory"] = {"step": [number(step) for step in reader.step],
                               "time": None if time is None else [number(value) for value in time],
                               "frames": [frame_of(reader[i]) for i in range(len(reader))]}  # fmt: skip
    return found


def append(path, count):
    reader = mrec.MrecReader(path)
    frame, step, time = reader[len(reader) - 1], list(reader.step)[-1], reader.time
    writer = mrec.MrecWriter.open(path)
    for k in range(1, count + 1):
        old, grown = frame["atoms"], Block()
        for key in old.keys():  # noqa: SIM118
            grown.insert(key, np.concatenate([old[key], old[key][:1]]))
            if old.precision(key) is not None:
                grown.set_precision(key, old.precision(key))
        frame["atoms"] = grown
        writer.append(frame, step=step + k, time=None if time is None else list(time)[-1] + k)
    writer.close()


if __name__ == "__main__":
    if sys.argv[1] == "--append":
        append(Path(sys.argv[2]), int(sys.argv[3]))
    else:
        for name in sys.argv[1:]:
            sys.stdout.write(json.dumps(record_of(Path(name))) + "\n")
