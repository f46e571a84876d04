# mypy: disable-error-code="union-attr, index, arg-type, list-item"
# ruff: noqa: T201 - a program, too
"""Broken records, each read by a process of its own kind: what it makes of them, and whether it lives.

``python -m tests.records.fuzzing 1000`` tries a thousand of each form and prints what went wrong.
"""

import faulthandler
import json
import os
import random
import resource
import selectors
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections import Counter
from contextlib import suppress
from pathlib import Path

import numpy as np

from molrec_convert.convert import convert
from molrec_convert.errors import ConvertError, RecordError
from molrec_convert.records import open_record
from molrec_convert.records.validation import validate

from .breakable import breakable
from .mutations import EVERYTHING, mutate_bytes, mutate_tree
from .trees import FORMS, copied, path_of

PATIENCE = 60.0
"""Seconds in which one record is read."""
MEMORY = 6 << 30


# ---------------------------------------------------------------- what a record holds
def contents(path):
    """Everything that is read of a record, in pieces with a place each."""
    found = {}
    with open_record(path) as record:
        for key, value in record.meta.items():
            found[f"/meta/{key}"] = repr(value)
        for name in ("frame", "system"):
            section = getattr(record, name)
            if section is not None:
                found[f"/{name}"] = "present"
                found.update(frame_contents(section, f"/{name}"))
        trajectory = record.trajectory
        if trajectory is None:
            return found, 0
        found["/trajectory/step"] = [repr(step) for step in trajectory.step.tolist()]
        if trajectory.time is not None:
            found["/trajectory/time"] = [repr(time) for time in trajectory.time.tolist()]
        for i in range(len(trajectory)):
            pieces = frame_contents(trajectory.stored_frame(i), "/trajectory", per_step=True)
            for place, value in pieces.items():
                found.setdefault(place, {})[i] = value
        return found, len(trajectory)


def frame_contents(frame, place, *, per_step=False):
    found = {}
    for name, block in frame.items():
        found[f"{place}/{name}"] = repr((block.count, block.shape, block.targets, block.attributes))
        for key, column in block.columns.items():
            values = column.values
            octets = values.tolist() if values.dtype.kind == "T" else np.ascontiguousarray(values).tobytes()
            mask = None if column.valid is None else column.valid.tobytes()
            found[f"{place}/{name}/{key}"] = repr((column.dtype, values.shape, octets, mask, column.precision))
    if frame.box is not None:
        box = frame.box
        found[f"{place}/box"] = repr((box.vectors.tobytes(), box.origin.tobytes(), box.boundary.tobytes(), box.defined))
    for key, value in frame.meta.items():
        found[f"{place}/meta/{key}" if per_step else f"{place}/@meta/{key}"] = repr((frame.meta.tag(key), value))
    return found


def strangers(found, due, mutations, frames, due_frames):
    """The places that differ though no mutation touched them."""
    touched = [place for mutation in mutations for place in mutation.touched]
    if EVERYTHING in touched:
        return []
    wrong = []
    fewer = frames < due_frames and not {"/trajectory", "/trajectory/@nstep"}.isdisjoint(touched)
    if frames != due_frames and not fewer:
        wrong.append(f"{frames} frames, {due_frames} were written")
    for place in found.keys() | due.keys():
        mine, theirs = found.get(place), due.get(place)
        if isinstance(theirs, dict) or isinstance(mine, dict):  # of every frame
            mine, theirs = mine or {}, {i: value for i, value in (theirs or {}).items() if i < frames}
        elif isinstance(theirs, list) and frames < due_frames:
            theirs = theirs[:frames]
        if mine != theirs and not any(is_touched(place, other) for other in touched):
            wrong.append(place)
    return wrong


def is_touched(place, touched):
    """Whether what is read at a place may depend on a node, or on the block that the node is a part of."""
    block = "/".join(touched.split("/")[:3])
    if touched.startswith("/trajectory/@") or touched in ("/trajectory", "/frame", "/system", "/meta"):
        return place.startswith(touched)
    return place == block or place.startswith(f"{block}/")


# ---------------------------------------------------------------- one broken record
def attempt(good, due, folder, form, seed, *, octets):
    """Break a copy of a record and read it: what was done, and what came of it."""
    rng = random.Random(f"{form} {seed} {octets}")
    path = copied(good, path_of(folder, form, f"r{seed}"))
    mutations = (mutate_bytes if octets else mutate_tree)(path, rng)
    result = {"seed": seed, "what": "; ".join(mutation.what for mutation in mutations)}
    try:
        found, frames = contents(path)
        wrong = strangers(found, due[0], mutations, frames, due[1])
        result |= {"outcome": "read", "problem": f"differs in {wrong}" if wrong else None}
        result["same"] = (found, frames) == due
    except (RecordError, FileNotFoundError, IsADirectoryError) as error:
        result |= {"outcome": "refused", "error": str(error), "problem": None}
        if not str(error).replace(str(path.name), str(path)).count(str(path)):
            result["problem"] = f"the error does not name the file: {error}"
        elif isinstance(error, RecordError) and error.place is None and not _is_of_the_file(str(error)):
            result["problem"] = f"the error does not name a place: {error}"
    result["problem"] = result["problem"] or validated(path, result["outcome"])
    result["problem"] = result["problem"] or converted(path, result["outcome"], rng.choice(FORMS))
    for each in folder.glob(f"r{seed}*"):
        shutil.rmtree(each) if each.is_dir() else each.unlink()
    return result


def _is_of_the_file(text):
    return any(words in text for words in ("not a readable HDF5 file", "no record", "not closed", "ZIP archive"))


def validated(path, outcome):
    """Whether the validator agrees with the reader."""
    try:
        errors = [finding for finding in validate(path) if finding.severity == "error"]
    except OSError:
        return None if outcome == "refused" else "the validator cannot open what is read"
    if outcome == "read" and errors:
        return f"it is read, and the validator reports {errors[0]}"
    if outcome == "refused" and not errors:
        return "it is refused, and the validator reports no error"
    return None


def converted(path, outcome, form):
    """Whether a conversion takes what is read, and that alone, and leaves nothing behind of what it refuses."""
    target = path_of(path.parent, form, f"{path.name.split('.')[0]}-target")
    try:
        convert(path, target)
    except (ConvertError, OSError) as error:
        left = [each.name for each in path.parent.glob(f"{target.name.split('.')[0]}*")]
        if left:
            return f"{left} is left behind by {error}"
        return f"it is read, and not converted: {error}" if outcome == "read" else None
    return "it is refused, and yet converted" if outcome == "refused" else None


def work(form, octets, first, end):
    """Try the seeds; a line of JSON each, after one that tells which comes."""
    faulthandler.enable()
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        good = breakable(path_of(folder, form, "good"))
        due = contents(good)
        for seed in range(first, end):
            print(seed, flush=True)
            _fault(seed)
            try:
                result = attempt(good, due, folder, form, seed, octets=octets)
            except BaseException as error:
                result = {"seed": seed, "outcome": "raised", "problem": traceback.format_exc(limit=-4)}
                if isinstance(error, KeyboardInterrupt):
                    raise
            print(json.dumps(result), flush=True)


def _fault(seed):
    """Die or hang where a test of the harness asks for it."""
    faults = dict(one.split("=") for one in os.environ.get("FUZZ_FAULT", "").split(",") if one)
    kind = faults.get(str(seed))
    if kind == "crash":
        os.kill(os.getpid(), signal.SIGSEGV)
    elif kind == "hang":
        time.sleep(1000)


# ---------------------------------------------------------------- many, in processes that may die
def run(form, count, *, octets, first=0):
    """The results of so many seeds; a process that dies or hangs gives one too, and another goes on."""
    results = []
    seed, end = first, first + count
    while seed < end:
        done, died = _run_process(form, octets, seed, end)
        results += done
        seed = results[-1]["seed"] + 1 if done else seed
        if died is not None:
            results.append({"seed": seed, "outcome": "died", "problem": died})
            seed += 1
    return results


def _run_process(form, octets, first, end):
    command = [sys.executable, "-m", "tests.records.fuzzing", "--work", form, str(int(octets)), str(first), str(end)]
    root = Path(__file__).resolve().parents[2]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=root) as process:
        results, hung = [], None
        with selectors.DefaultSelector() as selector:
            selector.register(process.stdout, selectors.EVENT_READ)
            while True:
                if not selector.select(PATIENCE):
                    hung = f"no answer in {PATIENCE} s"
                    process.kill()
                    break
                line = process.stdout.readline()
                if not line:
                    break
                if line.startswith("{"):
                    results.append(json.loads(line))
        errors = process.stderr.read()
        status = process.wait()
    if hung is None and status == 0:
        return results, None
    return results, hung or f"exit status {status}: {errors[:600]}"


def main(count, first=0):
    for octets in (False, True):
        for form in FORMS:
            begun = time.monotonic()
            results = run(form, count, octets=octets, first=first)
            outcomes = Counter(result["outcome"] for result in results)
            same = sum(result.get("same", False) for result in results)
            kind = "bytes" if octets else "tree"
            print(f"{form:5} {kind:5} {dict(outcomes)}, {same} read as written, {time.monotonic() - begun:.0f} s")
            for result in results:
                if result["problem"]:
                    print(f"    {result['seed']}: {result.get('what')}: {result['problem']}")


if __name__ == "__main__":
    if sys.argv[1] == "--work":
        form, octets, *seeds = sys.argv[2:]
        with suppress(BrokenPipeError):
            work(form, octets == "1", *map(int, seeds))
    else:
        main(*map(int, sys.argv[1:]))
