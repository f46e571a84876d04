"""The rules of MolRec as data, and the mark that tells which rule a check stands for.

The numbers are this project's own. Source: the chapters of the MolRec specification that each row names; rules from
37 on are what a record needs beyond it to be carried from one store to another.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import NamedTuple, ParamSpec, TypeVar

from .errors import RecordError

P = ParamSpec("P")
R = TypeVar("R")


class Rule(NamedTuple):
    """A rule, where it comes from, and what a store that breaks it is: refused, or read with a warning.

    ``refused`` and ``warned`` say when. Where both are empty a store cannot show that the rule was broken.
    """

    number: int
    chapter: str
    text: str
    refused: str = ""
    warned: str = ""


RULES: tuple[Rule, ...] = (
    Rule(
        1,
        "containers",
        "A column has one of thirteen element types: f64, i8 to i64, u8 to u64, bool, string, c64, c128.",
        refused="any other type",
    ),
    Rule(
        2,
        "containers",
        "Reals are binary64; an array stored as binary16 or binary32 is never widened.",
        refused="binary16 and binary32, of a box as well",
    ),
    Rule(3, "containers", "json is a tag of meta values and no type of a column.", refused="a column declared as json"),
    Rule(
        4,
        "containers, structure",
        "A block has a count, and the first axis of its columns has that length.",
        refused="no count, or another length",
    ),
    Rule(
        5,
        "containers, structure",
        "The product of a structural shape is the count of its block.",
        refused="another product, or no list of counts",
    ),
    Rule(6, "containers", "Arrays are in C order; the axes after the first belong to one row."),
    Rule(
        7,
        "containers, structure",
        "A block may have any name but box, which is the cell; counts of blocks are independent.",
        refused="a box that is no group",
    ),
    Rule(
        8,
        "structure",
        "The attributes of a frame are its meta document, each value in the form of its tag in _meta_types.",
        refused="an unknown tag, or a value of another form",
        warned="a key without a tag, or a tag without a key",
    ),
    Rule(9, "structure, overview", "What a reader does not know it keeps."),
    Rule(
        10,
        "structure",
        "Strings are UTF-8, of variable length (in HDF5 also of a fixed width).",
        refused="other encodings and types of text",
    ),
    Rule(11, "containers", "A grid has no cell of its own: its cell is the box of the frame."),
    Rule(
        12,
        "containers",
        "The mask of a column is bool[N] in _validity, under the name of a column.",
        refused="another type or length, or no such column",
        warned="a _validity that holds no mask",
    ),
    Rule(
        13,
        "containers",
        "An f64 column may declare a precision within 2^-1000 … 2^1000; its values lie on the grid of the quantum.",
        refused="another type, or a precision out of range",
        warned="values off the grid, or a precision on a column of a trajectory",
    ),
    Rule(
        14,
        "containers",
        "A row reference is u64 and below the row count of its target, which is there; atomi … atomm refer to atoms.",
        refused="a malformed or missing target, or a row that is not there",
        warned="targets as an attribute of a block of a trajectory, which sequence_schema has",
    ),
    Rule(
        15,
        "containers",
        "A box is vectors f64[3][3] that span space, an origin f64[3], a boundary bool[3]; on a frame all are arrays.",
        refused="other types or shapes, singular vectors",
    ),
    Rule(
        16,
        "containers",
        "cell_defined is a bool; without a cell the vectors are the identity and the boundary is all false.",
        refused="another type, or a periodic axis",
        warned="other vectors, no boundary, or cell_defined written though it is true",
    ),
    Rule(17, "conventions", "Canonical columns have one value a row.", refused="further axes"),
    Rule(
        18,
        "conventions",
        "Canonical columns and per-step quantities have one fixed type; ix, iy and iz go together.",
        refused="another type",
        warned="one of ix, iy, iz without the others",
    ),
    Rule(
        19,
        "conventions",
        "Documents are finite JSON; typed values keep the form and the range of their tag.",
        refused="text that is no finite JSON, or a value out of range",
    ),
    Rule(
        20,
        "trajectory",
        "sequence_schema declares the blocks, columns and keys; a block that is there has all its columns.",
        refused="a malformed declaration, or an array that is missing or not as declared",
        warned="no declaration",
    ),
    Rule(
        21,
        "trajectory",
        "No block is called step, time, meta or box, no column offset, step_index or _validity.",
        refused="a declaration with such a name",
    ),
    Rule(
        22,
        "trajectory",
        "nstep, an integer, is the number of frames; arrays are no shorter.",
        refused="another form, or a progression without it",
    ),
    Rule(
        23,
        "trajectory",
        "Steps are i64 and increase strictly; steps and times are an array or a progression.",
        refused="neither, another type, a wrong order, or fewer than nstep",
        warned="an array beside a progression",
    ),
    Rule(
        24,
        "trajectory",
        "step_index holds the frames of the updates, u64 and strictly ascending.",
        refused="another type or order",
    ),
    Rule(
        25,
        "trajectory",
        "A per-step key has an array of nstep values of its tag, which meta_dtype repeats.",
        refused="no or another array, no or another meta_dtype, an unknown tag",
    ),
    Rule(
        26,
        "trajectory",
        "The rows of update j lie between offset[j] and offset[j + 1], from 0 on, within every column and mask.",
        refused="offsets that decrease, begin elsewhere or lead beyond the data",
    ),
    Rule(
        27,
        "trajectory",
        "A block without an index has both markers, uniform_rows and dense_updates, and columns.",
        refused="one marker alone, no positive count, rows without an index and markers",
        warned="rows that are no whole update, or markers beside an index",
    ),
    Rule(
        28, "trajectory", "The latest update holds until the next; one without rows leaves the block present and empty."
    ),
    Rule(
        29,
        "trajectory",
        "Every update of a block with a structural shape has the rows of that shape.",
        refused="another number of rows, or another shape on the group",
    ),
    Rule(
        30,
        "trajectory",
        "A block has the rows of the block that it is aligned with, in every frame.",
        refused="an impossible alignment, or other rows in a frame",
    ),
    Rule(
        31,
        "trajectory",
        "The cell is fixed, as attributes, or a list of updates with step_index.",
        refused="no vectors, or updates without their frames",
    ),
    Rule(
        32,
        "structure, trajectory",
        "A block of the trajectory and that of system of the same name have the same rows and ids.",
        refused="other rows or ids, or an aligned block of such a name",
    ),
    Rule(33, "chunking", "A commit writes data first and nstep last."),
    Rule(
        34,
        "chunking",
        "Chunks are encoded so that every reader decodes them.",
        refused="a codec that cannot be undone here",
        warned="a codec that other readers may lack",
    ),
    Rule(
        35,
        "chunking",
        "A packed record has stored entries with relative names, and no folders.",
        refused="an archive that cannot be read",
        warned="compressed entries, folders, a leading folder",
    ),
    Rule(
        36,
        "structure, overview",
        "A record has meta and at least one of frame, system, trajectory, forcefield, status.",
        refused="none of them, or a document that is no finite JSON",
        warned="no meta",
    ),
    Rule(
        37,
        "this project",
        "Every store can carry names and text: no NUL, no lone surrogate, no name with / or a leading __.",
        refused="other names and text",
    ),
    Rule(
        38,
        "this project",
        "The layout of the store itself: the marker of an HDF5 record, native forms of attributes, Zarr V3 metadata.",
        refused="no marker, links that lead nowhere, another version",
        warned="a marker where programs do not look for it",
    ),
    Rule(
        39,
        "this project",
        "The store can be read: it was closed, and its chunks can be decoded.",
        refused="damage",
        warned="damage where a record is not read, or a file that is still marked as open",
    ),
)
"""Every rule, by number."""


class rule:  # noqa: N801 - reads as a word of the language: `@rule(13)`, `with rule(13):`
    """Marks a check with the rule that it stands for: the errors that leave it have its number, unless they have one.

    Parameters
    ----------
    number
        The rule's number in `RULES`.
    """

    __slots__ = ("number",)

    def __init__(self, number: int) -> None:
        self.number = number

    def __call__(self, check: Callable[P, R]) -> Callable[P, R]:
        """Mark a function."""
        number = self.number

        @wraps(check)
        def checked(*args: P.args, **kwargs: P.kwargs) -> R:
            try:
                return check(*args, **kwargs)
            except RecordError as error:
                if error.rule is None:
                    error.rule = number
                raise

        return checked

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, RecordError) and error.rule is None:
            error.rule = self.number
