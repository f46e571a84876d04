"""Small PDB files, line by line."""

from collections.abc import Sequence

CUBE = "CRYST1   10.000   10.000   10.000  90.00  90.00  90.00 P 1           1"


def atom(
    serial: int | str = 1,
    position: Sequence[float] = (0.0, 0.0, 0.0),
    *,
    record: str = "ATOM",
    name: str = " CA ",
    altloc: str = "",
    residue: str = "ALA",
    chain: str = "A",
    number: int | str = 1,
    icode: str = "",
    occupancy: str = "1.00",
    b_factor: str = "0.00",
    segid: str = "",
    element: str = "C",
    charge: str = "",
) -> str:
    """An atom line of 80 columns."""
    x, y, z = (f"{value:8.3f}" for value in position)
    return (
        f"{record:<6}{serial:>5} {name:<4}{altloc:1}{residue:<4}{chain:1}{number:>4}{icode:1}   {x}{y}{z}"
        f"{occupancy:>6}{b_factor:>6}      {segid:<4}{element:>2}{charge:<2}"
    )


def text(*lines: str) -> str:
    """Lines with their ends."""
    return "".join(f"{line}\n" for line in lines)


def model(number: int | str, *lines: str) -> str:
    """A model of such lines."""
    return text(f"MODEL     {number:>4}", *lines, "ENDMDL")


def pair(shift: float = 0.0) -> tuple[str, str]:
    """Two atoms."""
    return (
        atom(1, (1.0 + shift, 2.0, 3.0), name=" N  ", element="N"),
        atom(2, (4.5 + shift, 5.0, -6.125), name=" CA "),
    )


THREE = model(1, *pair()) + model(2, *pair(0.5)) + model(3, *pair(0.75)) + "END\n"
"""Three models of two atoms; 13 lines."""
