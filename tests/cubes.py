"""Small cubes in Gaussian's layout."""

from collections.abc import Sequence

STEPS = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
WATER = ((8, 8.0, 0.0, 0.0, 0.221098), (1, 1.0, 0.0, 1.430523, -0.886282), (1, 1.0, 0.0, -1.430523, -0.886282))
OXYGEN = WATER[:1]


def cube(
    values: str | Sequence[float] | None = None,
    *,
    counts: Sequence[int] = (2, 1, 3),
    steps: Sequence[Sequence[float]] = STEPS,
    origin: Sequence[float] = (0.0, 0.0, 0.0),
    atoms: Sequence[Sequence[float]] = OXYGEN,
    nval: int | None = None,
    orbitals: str | None = None,
    comments: str = "title\ncomment",
) -> str:
    """The text of one cube; the values count up from 0 unless they are given, as numbers or as the text itself."""
    stated = "" if nval is None else f"{nval:5d}"
    lines = [comments, row(-len(atoms) if orbitals else len(atoms), origin) + stated]
    lines += [row(count, step) for count, step in zip(counts, steps, strict=True)]
    lines += [row(int(number), rest) for number, *rest in atoms]
    lines += [orbitals] if orbitals else []
    if not isinstance(values, str):
        fields = int(orbitals.split()[0]) if orbitals else nval or 1
        points = abs(counts[0] * counts[1] * counts[2])
        numbers = list(range(points * fields)) if values is None else list(values)
        size = abs(counts[2]) * fields
        values = "".join(block(numbers[k : k + size]) for k in range(0, len(numbers), size))
    return "\n".join(lines) + "\n" + values


def row(number: int, reals: Sequence[float]) -> str:
    """A line of the header."""
    return f"{number:5d}" + "".join(f"{real:12.6f}" for real in reals)


def block(numbers: Sequence[float]) -> str:
    """The lines of a row of the grid."""
    lines = [numbers[k : k + 6] for k in range(0, len(numbers), 6)]
    return "".join("".join(f"{number:13.5E}" for number in line) + "\n" for line in lines)
