"""The title of a GRO frame, and the time and step that programs write into it.

GROMACS ends titles with ``t=  12.50000 step= 6250``, in picoseconds; others write a time alone, anywhere in the line.
A title in the form of GROMACS is kept without its numbers, as ``water t= step=``: so it is the same in all frames.
"""

from __future__ import annotations

import math
import re
from typing import NamedTuple

TITLE = "Written by molrec-convert"
"""The title of a frame whose source has none."""

REAL = r"[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?"
MOMENT = {
    "time": re.compile(rf"(?<!\w)t= *({REAL})(?! *(?:fs|ns|us)\b)(?=ps\b|[^\w.]|$)"),
    "step": re.compile(r"(?<!\w)step= *([-+]?[0-9]{1,19})(?![\w.])"),
}
FORM = re.compile(r"(?P<base>.*?)(?P<time> t=)?(?P<step> step=)?", re.DOTALL)
"""A kept title: what it says besides, and whether it states a time and a step."""
LARGEST_STEP = 2**63


class Moment(NamedTuple):
    """When a frame is."""

    time: float | None = None
    step: int | None = None


def moment_of(title: str) -> Moment:
    """The time in picoseconds and the step that a title states; of several, the last ones.

    >>> moment_of("water t=   0.04000 step= 20"), moment_of("MD of 2 waters, t= 0.0"), moment_of("dt=2")
    (Moment(time=0.04, step=20), Moment(time=0.0, step=None), Moment(time=None, step=None))
    """
    words = {name: found[-1] for name, pattern in MOMENT.items() if (found := pattern.findall(title))}
    time = float(words.get("time", "nan"))
    step = int(words.get("step", LARGEST_STEP))
    return Moment(time if math.isfinite(time) else None, step if -LARGEST_STEP <= step < LARGEST_STEP else None)


def kept_title(title: str, moment: Moment) -> str | None:
    """What of a title is kept: all of it, but for numbers that GROMACS would write the same.

    >>> kept_title("water t=   0.04000 step= 20", Moment(0.04, 20)), kept_title("two waters, t= 0.0", Moment(0.0))
    ('water t= step=', 'two waters, t= 0.0')
    """
    base = title
    for name, pattern in reversed(MOMENT.items()):
        last = [*pattern.finditer(base)][-1:]
        if last and getattr(moment, name) is not None:
            base = base[: last[0].start()].removesuffix(" ")
    if _with_moment(base, moment) != title:
        return title
    words = ([] if moment.time is None else [" t="]) + ([] if moment.step is None else [" step="])
    return None if base == TITLE else base + "".join(words)


def written_title(kept: str | None, moment: Moment, *, counted: bool) -> str:
    """The title line of a frame.

    Parameters
    ----------
    kept
        The title of its source, as `kept_title` gives it; None where there is none.
    moment
        Its time in picoseconds and its step.
    counted
        Whether the step only says which frame it is: then it is not written where the source's title had none.
    """
    base = TITLE if kept is None else " ".join(kept.splitlines())
    told = moment_of(base)
    if told != Moment():
        if told.time == moment.time and (told.step == moment.step or (told.step is None and counted)):
            return base
        for pattern in MOMENT.values():
            base = pattern.sub("", base)
        base = base.rstrip(" ,;")
    form = FORM.fullmatch(base)
    assert form is not None
    if form["time"] is not None or form["step"] is not None:
        shown = form["step"] is not None
    else:
        shown = kept is None or moment.time is not None
    return _with_moment(form["base"], Moment(moment.time, moment.step if shown or not counted else None))


def _with_moment(base: str, moment: Moment) -> str:
    """A title as GROMACS writes it; a time that needs more decimals gets them."""
    words = [base]
    if moment.time is not None:
        fixed = f"{moment.time:9.5f}"
        words.append(f"t= {fixed if float(fixed) == moment.time else repr(moment.time)}")
    if moment.step is not None:
        words.append(f"step= {moment.step}")
    return " ".join(words)
