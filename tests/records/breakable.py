# mypy: disable-error-code="union-attr, index, arg-type, list-item"
"""A record in which every rule can be broken."""

import numpy as np

from molrec_convert.model import Block, Box, Column, ColumnSpec, Frame, Meta, MetaSpec, Schema
from molrec_convert.model.schema import BlockSpec
from molrec_convert.records import create


def breakable(path):
    """Write it, and give its path."""
    frame = Frame(
        {
            "atoms": Block({"x": [0.0, 1.0], "id": np.array([1, 2], "u8"),
                            **{key: np.array([0, 0], "i4") for key in ("ix", "iy", "iz")},
                            "name": ["a", "é"], "q": Column([1.0, 2.0], valid=[True, False]),
                            "p": Column([0.5, 0.25], precision=0.1)}),
            "bonds": {"atomi": np.array([0], "u8"), "atomj": np.array([1], "u8")},
            "marks": Block({"row": np.array([1], "u8")}, targets={"row": "/system/atoms"}),
            "grid": Block({"rho": np.arange(4.0)}, shape=(2, 2)),
        },
        box=Box.orthogonal(3, origin=[0, 0, 1], boundary=[True, True, False]),
        meta=Meta({"pe": 1.0, "n": 3, "v": [0.0, 1.0, 2.0], "j": {"a": 1}}),
    )  # fmt: skip
    schema = Schema(
        {
            "atoms": BlockSpec({"x": ColumnSpec("f64"), "q": ColumnSpec("f64", nullable=True),
                                "p": ColumnSpec("f64", precision=0.1)}),
            "bonds": BlockSpec({"atomi": ColumnSpec("u64"), "atomj": ColumnSpec("u64")}),
            "few": BlockSpec({"k": ColumnSpec("i32")}),
            "grid": BlockSpec({"rho": ColumnSpec("f64")}, shape=(2, 2)),
            "types": BlockSpec({"type": ColumnSpec("string")}, aligned_with="few"),
            "solvent": BlockSpec({"x": ColumnSpec("f64"), "id": ColumnSpec("u64")}),
        },
        {"pe": MetaSpec("f64"), "v": MetaSpec("f64x3"), "j": MetaSpec("json")},
    )  # fmt: skip
    with create(path, meta={"a": 1, "list": ["x"]}) as writer:
        writer.set_section("system", Frame({"atoms": {"mass": [1.0, 2.0], "id": np.array([1, 2], "u8")},
                                            "solvent": {"mass": [1.0], "id": np.array([7], "u8")}}))  # fmt: skip
        writer.set_section("frame", frame)
        trajectory = writer.begin_trajectory(schema)
        for i in range(4):
            few = {"k": np.arange(1 + i % 2, dtype="i4")}
            blocks = {
                "atoms": {"x": [float(i), 1.0], "q": Column([1.0, float(i)], valid=[True, i != 1]),
                          "p": Column([0.5, float(i)], precision=0.1)},
                "bonds": {"atomi": np.array([0], "u8"), "atomj": np.array([1], "u8")},
                "few": few,
                "grid": Block({"rho": np.arange(4.0) + i}, shape=(2, 2)),
                "types": {"type": ["a"] * len(few["k"])},
                "solvent": {"x": [float(i)], "id": np.array([7], "u8")},
            }  # fmt: skip
            trajectory.append(Frame(blocks, box=Box.orthogonal(3 + i // 2), meta={"pe": 1.0, "v": [0.0] * 3, "j": {}}),
                              step=(0, 10, 20, 35)[i], time=(0, 1, 2, 2.5)[i])  # fmt: skip
    return path
