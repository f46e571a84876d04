"""A whole record: its store, its document, its sections."""

from __future__ import annotations

from pathlib import Path

from molrec_convert.errors import RecordError
from molrec_convert.records import layout
from molrec_convert.records.store import open_record
from molrec_convert.records.stored import document_value
from molrec_convert.records.tree import Group, Store
from molrec_convert.rules import rule

from .findings import Finding, Findings
from .section import Section, check_section, check_section_references
from .trajectory import check_trajectory


def validate(path: str | Path) -> list[Finding]:
    """All that is wrong with a record.

    The record is read once, in pieces, so that memory does not grow with it.

    Parameters
    ----------
    path
        The record.

    Returns
    -------
    list of Finding
        Errors, for which a reader refuses the record, and warnings; none for a record that keeps every rule.

    Raises
    ------
    OSError
        If there is no such file, or it may not be read.
    """
    findings = Findings()
    record = findings.tried(open_record, path, strict=False)
    if record is not None:
        with record:
            _check(record.root, findings)
            _remark(record.store, findings)
    return findings.found


def _check(root: Group, findings: Findings) -> None:
    _check_document(root, findings)
    sections: dict[str, Section] = {}
    for name in (layout.SYSTEM, layout.FRAME):
        with findings, rule(36):
            group = root.group(name)
            if group is not None:
                sections[name] = check_section(group, findings)
    for name in sections:
        check_section_references(name, sections, findings)
    with findings, rule(36):
        trajectory = root.group(layout.TRAJECTORY)
        if trajectory is not None:
            check_trajectory(trajectory, sections, findings)


def _remark(store: Store, findings: Findings) -> None:
    """Warn of what other programs stumble over, and of damage where a record is not read."""
    try:
        for number, place, message in store.remarks():
            findings.warn(number, place, message)
    except RecordError as error:
        if not any(finding.place == error.place for finding in findings.found):
            findings.warn(39, error.place or "/", error.message)


def _check_document(root: Group, findings: Findings) -> None:
    with findings, rule(36):
        group = root.group(layout.META)
        if group is None:
            findings.warn(36, "/", "no group meta, which every writer makes")
            return
        for name in group.attributes.names():
            findings.tried(document_value, group, name)
