"""The constraints of Atoms as a JSON document and back.

Decisions: a constraint is kept as its own ``todict`` says it, and is made again from that at once. Attributes that
differ then are kept beside it, since some leave a part of themselves out (the lengths of `FixBondLengths`) or change
its last digits (directions that are normalised anew).
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from json import loads
from typing import Any

from molrec_convert.adapter import Note
from molrec_convert.model.meta import json_text

from ._ase_values import UnsupportedError, coded, uncoded

Document = dict[str, Any]
NAME, ARGUMENTS, ATTRIBUTES = "name", "kwargs", "attributes"


def documents_of(constraints: Iterable[Any]) -> tuple[list[Document], list[Note]]:
    """The documents of constraints, and a note for each that no document holds."""
    documents: list[Document] = []
    notes: list[Note] = []
    for constraint in constraints:
        try:
            document = _document(constraint)
            documents.append(document)
            known = _kind_of(document[NAME], json_text(document[ARGUMENTS]))
            if known is not type(constraint):
                message = f"the constraint {type(constraint).__name__} comes back as {known.__name__}"
                notes.append(Note(message, loss=True))
        except UnsupportedError as error:
            message = f"the constraint {type(constraint).__name__} is not kept: {error}"
            notes.append(Note(message, loss=True))
    return documents, notes


def _document(constraint: Any) -> Document:
    said = constraint.todict() if hasattr(constraint, "todict") else None
    if not isinstance(said, dict) or NAME not in said:
        raise UnsupportedError("its todict does not say what it is")
    plain = {NAME: str(said[NAME]), ARGUMENTS: coded(said.get(ARGUMENTS, {}))}
    differing = _differing(json_text(plain), json_text(_attributes(constraint)))
    return {**plain, ATTRIBUTES: differing} if differing else plain


def _attributes(constraint: Any) -> Document:
    """The attributes of a constraint of which a document can be made."""
    found: Document = {}
    for name, value in vars(constraint).items():
        try:
            found[name] = coded(value)
        except UnsupportedError:
            continue  # made again by the constraint itself when it is used
    return found


@lru_cache(maxsize=64)
def _differing(document: str, attributes: str) -> Document:
    """The attributes that the constraint does not have which is made of the document; both as text."""
    found: Document = loads(attributes)
    again = _attributes(_made(loads(document)))
    return {name: value for name, value in found.items() if name not in again or again[name] != value}


@lru_cache(maxsize=64)
def _kind_of(name: str, arguments: str) -> type:
    """The class of the constraint that is made of a document; its arguments as text."""
    return type(_made({NAME: name, ARGUMENTS: loads(arguments)}))


def constraint_of(document: Document) -> Any:
    """The constraint of a document.

    Raises
    ------
    UnsupportedError
        Where ASE cannot make it.
    """
    made = _made(document)
    for name, value in document.get(ATTRIBUTES, {}).items():
        setattr(made, name, uncoded(value))
    return made


def _made(document: Document) -> Any:
    from ase.constraints import dict2constraint

    try:
        return dict2constraint({NAME: document[NAME], ARGUMENTS: uncoded(document[ARGUMENTS])})
    except Exception as error:  # the constraint's own code, which may raise anything
        reason = f": {error}" if str(error) else ""
        raise UnsupportedError(f"ASE cannot make it again ({type(error).__name__}{reason})") from error
