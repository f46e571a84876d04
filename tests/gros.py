"""Small GRO files, line by line."""

from collections.abc import Sequence

TOLD = "no element is stated for"
"""What is said of the atoms of water, whose names tell their elements."""
CUBE = "   1.00000   1.20000   1.30000"


def atom(
    number: int | str = 1,
    position: Sequence[float] = (0.0, 0.0, 0.0),
    velocity: Sequence[float] = (),
    *,
    name: str = "OW",
    residue: str = "SOL",
    res_id: int | str = 1,
    decimals: int = 3,
) -> str:
    """An atom line, in nanometres."""
    width = decimals + 5
    words = [f"{value:{width}.{decimals}f}" for value in position]
    words += [f"{value:{width}.{decimals + 1}f}" for value in velocity]
    return f"{res_id:>5}{residue:<5}{name:>5}{number:>5}{''.join(words)}"


def said(warnings: Sequence[str]) -> list[str]:
    """What else is said."""
    return [text for text in warnings if TOLD not in text]


def text(*lines: str) -> str:
    """Lines with their ends."""
    return "".join(f"{line}\n" for line in lines)


def gro(*lines: str, title: str = "water", box: str = CUBE, count: int | str | None = None) -> str:
    """A frame of atom lines."""
    return text(title, f"{len(lines) if count is None else count:>5}", *lines, box)


def pair(shift: float = 0.0, velocities: bool = False) -> tuple[str, str]:
    """Two atoms."""
    moving = ((0.1, -0.2, 0.3), (-1.5, 0.0, 2.25)) if velocities else ((), ())
    return (
        atom(1, (0.1 + shift, 0.2, 0.3), moving[0]),
        atom(2, (0.45 + shift, 0.5, -0.613), moving[1], name="HW1"),
    )


THREE = "".join(
    gro(*pair(0.05 * k, velocities=True), title=f"water t= {0.5 * k:9.5f} step= {250 * k}") for k in range(3)
)
"""Three frames of two atoms, 15 lines."""
