"""The tables of the journal."""

from __future__ import annotations

TABLES = """
CREATE TABLE about (key TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE roots (name TEXT PRIMARY KEY, path TEXT NOT NULL UNIQUE, prefix TEXT NOT NULL, bare TEXT,
    given TEXT NOT NULL);
CREATE TABLE scanned (archive TEXT PRIMARY KEY, size INTEGER NOT NULL, modified INTEGER);
CREATE TABLE files (
    id INTEGER PRIMARY KEY,
    source TEXT NOT NULL UNIQUE,
    root TEXT NOT NULL,
    place BLOB NOT NULL,
    archive TEXT,
    ordinal INTEGER,
    name TEXT NOT NULL,
    folder TEXT NOT NULL,
    stem TEXT NOT NULL,
    format TEXT,
    role TEXT,
    doubtful INTEGER NOT NULL DEFAULT 0,
    size INTEGER,
    modified INTEGER,
    topology TEXT,
    topology_given INTEGER NOT NULL DEFAULT 0,
    output TEXT,
    output_key TEXT UNIQUE,
    state TEXT NOT NULL,
    reason TEXT,
    frames INTEGER,
    atoms INTEGER,
    sha256 TEXT,
    loss TEXT,
    warnings TEXT,
    pairing TEXT,
    naming TEXT,
    error TEXT,
    error_kind TEXT,
    error_line INTEGER,
    error_frame INTEGER,
    seconds REAL,
    verified TEXT,
    output_size INTEGER,
    output_sha256 TEXT,
    version TEXT,
    options TEXT,
    attempts INTEGER NOT NULL DEFAULT 0,
    written INTEGER NOT NULL DEFAULT 0,
    finished TEXT,
    picture TEXT,
    seen INTEGER NOT NULL
);
CREATE INDEX of_state ON files (state, archive, size, id);
CREATE INDEX of_folder ON files (folder, stem COLLATE NOCASE);
CREATE INDEX of_archive ON files (archive, state, ordinal);
"""

LISTS = frozenset(("loss", "warnings"))
"""Columns that hold lists, as JSON."""
DOCUMENTS = frozenset(("options", "picture"))
"""Columns that hold objects, as JSON."""
NOTES = ("pairing", "naming")
"""Columns that are shown as one list, ``notes``."""

RESULTS = (
    "frames", "atoms", "sha256", "loss", "warnings", "error", "error_kind", "error_line", "error_frame", "seconds",
    "verified", "output_size", "output_sha256", "version", "options", "finished", "picture", "reason",
)  # fmt: skip
"""Columns that a file gets when it is done, failed or skipped."""

SHOWN = (
    "source", "format", "state", "output", "frames", "atoms", "size", "sha256", "loss", "warnings", "notes", "error",
    "error_kind", "error_line", "error_frame", "reason", "topology", "seconds", "verified", "output_size",
    "output_sha256", "version", "options", "attempts", "finished",
)  # fmt: skip
"""Columns that a person is shown, in this order: in JSON, in CSV, in the report."""
