# mypy: disable-error-code="union-attr, index, arg-type, list-item"
"""Random changes of records: of attributes, declarations, arrays and groups, and of bytes.

A mutation tells what it touched, as places of the tree, so that a test knows what may differ when the record is read.
"""

import struct
import zipfile

import h5py
import numpy as np

from .trees import changing

ODD: tuple[object, ...] = (
    0, 1, -1, 2, 3, 7, 2**31, 2**53 + 1, 2**63 - 1, 1.0, 0.5, -0.25, 1e300, 5e-324, True, False, "", "f64", "u64", "é",
    "atoms", "none", "/system/atoms", "/trajectory/atoms", "../x", "a/b", [], [0], [2, 2], [1.5], [3, 3, 3], ["x"],
    "NaN", "18446744073709551615", "-1", "1e5",
)  # fmt: skip
PLAIN: tuple[object, ...] = (None, {}, {"a": 1}, [None], [[1], [2]], {"blocks": {}}, float("nan"), 2**63)
TYPES = ("f8", "f4", "f2", "i8", "i4", "i2", "u8", "u4", "u1", "?", "c8", "c16")
DOCUMENTS = ("sequence_schema", "targets", "_meta_types", "step_progression", "time_progression")
NAMES = ("count", "precision", "structural_shape", "targets", "uniform_rows", "nstep", "unknown", "_json", "boundary",
         "vectors", "cell_defined", "meta_dtype", "sequence_schema", "_meta_types", "a/b", "__x")  # fmt: skip
KEYS = ("x", "k", "dtype", "fill", "precision", "nullable", "box", "offset", "a/b", "")
EVERYTHING = "/"


class Mutation:
    """What was done, and the places that it touched."""

    def __init__(self, what, *touched):
        self.what = what
        self.touched = touched


# ---------------------------------------------------------------- the tree
def mutate_tree(path, rng):
    """Change the tree of a record in one to three places."""
    with changing(path) as tree:
        return [rng.choice(KINDS)(tree, rng, _nodes(tree)) for _ in range(rng.choice((1, 1, 1, 2, 3)))]


def _nodes(tree):
    """The places of groups and of arrays."""
    groups, arrays, todo = ["/"], [], ["/"]
    while todo:
        place = todo.pop()
        for name in tree.names(place):
            child = f"{place.rstrip('/')}/{name}"
            if tree.is_group(child):
                groups.append(child)
                todo.append(child)
            else:
                arrays.append(child)
    return sorted(groups), sorted(arrays)


def _pick_attribute(tree, rng, nodes):
    owners = [place for place in (*nodes[0], *nodes[1]) if tree.attributes(place)]
    place = rng.choice(owners)
    return place, rng.choice(sorted(tree.attributes(place)))


def set_attribute(tree, rng, nodes):
    place, name = _pick_attribute(tree, rng, nodes)
    value = rng.choice(ODD if rng.random() < 0.8 else PLAIN)
    tree.set(place, name, value)
    return Mutation(f"{place}@{name} = {value!r}", touched_by(place, name))


def nudge_attribute(tree, rng, nodes):
    """A value a little off."""
    place, name = _pick_attribute(tree, rng, nodes)
    value = tree.get(place, name)
    if isinstance(value, bool):
        value = not value
    elif isinstance(value, int | float):
        value += rng.choice((-1, 1, 0.5))
    elif isinstance(value, str):
        at = rng.randrange(len(value) + 1)
        value = value[:at] + rng.choice('x0"{}[],:é ') + value[at + rng.randrange(2) :]
    elif isinstance(value, list) and value:
        value = value[:-1] if rng.random() < 0.5 else [*value, value[-1]]
    tree.set(place, name, value)
    return Mutation(f"{place}@{name} nudged to {value!r}"[:200], touched_by(place, name))


def drop_attribute(tree, rng, nodes):
    place, name = _pick_attribute(tree, rng, nodes)
    tree.drop(place, name)
    return Mutation(f"{place}@{name} dropped", touched_by(place, name))


def add_attribute(tree, rng, nodes):
    place = rng.choice((*nodes[0], *nodes[1]))
    name = rng.choice(NAMES)
    value = rng.choice(ODD)
    tree.set(place, name, value)
    return Mutation(f"{place}@{name} = {value!r} added", touched_by(place, name))


def change_document(tree, rng, nodes):
    """A leaf or a branch of JSON that the layout reads."""
    found = [(place, name) for place in nodes[0] for name in tree.attributes(place) if name in DOCUMENTS]
    if not found:
        return set_attribute(tree, rng, nodes)
    place, name = rng.choice(found)
    try:
        document = tree.document(place, name)
    except ValueError:
        return drop_attribute(tree, rng, nodes)
    trail, branch, key = [], None, None
    entry = document
    while isinstance(entry, dict | list) and entry and (branch is None or rng.random() < 0.85):
        branch = entry
        key = rng.choice(sorted(entry)) if isinstance(entry, dict) else rng.randrange(len(entry))
        entry = branch[key]
        trail.append(str(key))
    if branch is None:
        return set_attribute(tree, rng, nodes)
    kind = rng.randrange(4)
    if kind == 0:
        del branch[key]
    elif kind == 1 and isinstance(branch, dict):
        branch[rng.choice(("x", "k", "dtype", "fill", "precision", "nullable", "box", "offset", "a/b", ""))] = (
            branch.pop(key)
        )
    else:
        branch[key] = rng.choice(ODD if rng.random() < 0.8 else PLAIN[:-2])
    tree.set_document(place, name, document)
    return Mutation(f"{place}@{name} changed at {'.'.join(trail)}", *_touched_by_declaration(place, name, trail))


def _touched_by_declaration(place, name, trail):
    if name != "sequence_schema" or len(trail) < 2:
        return (touched_by(place, name),)
    return (f"{place}/{'meta/' if trail[0] == 'meta' else ''}{trail[1]}",)


def change_values(tree, rng, nodes):
    """Numbers that are other numbers."""
    place = rng.choice(nodes[1])
    values = tree.values(place)
    if isinstance(values, list):
        values = [rng.choice(("", "x", "{", '{"a": 1}', "null", "é", "1e999", "[NaN]")) for _ in values]
    elif values.size:
        flat = values.reshape(-1)
        at = rng.randrange(values.size)
        flat[at] = rng.choice((0, 1, 2, 5, 100)) if values.dtype.kind != "?" else not flat[at]
        if rng.random() < 0.3:
            flat[:] = flat[::-1].copy()
    tree.put(place, values)
    return Mutation(f"{place} has other values", place)


def change_type(tree, rng, nodes):
    place = rng.choice(nodes[1])
    values = tree.values(place)
    dtype = rng.choice(TYPES)
    tree.put(place, np.zeros(len(values), dtype) if isinstance(values, list) else values.real.astype(dtype))
    return Mutation(f"{place} is of {dtype}", place)


def change_shape(tree, rng, nodes):
    place = rng.choice(nodes[1])
    values = tree.values(place)
    if isinstance(values, list):
        values = values[:-1] if rng.random() < 0.5 else [*values, "more"]
    else:
        kind = rng.randrange(4)
        if kind == 0:
            values = values[: rng.randrange(len(values) + 1)]
        elif kind == 1:
            values = np.concatenate([values, values[:1]]) if len(values) else np.zeros(3, values.dtype)
        elif kind == 2:
            values = np.stack([values, values], axis=-1)
        else:
            values = values.reshape(-1)[:1].reshape(()) if values.size else values
    tree.put(place, values)
    return Mutation(f"{place} is of shape {np.shape(values)}", place)


def cut_array(tree, rng, nodes):
    """Another extent, and the chunks as they are."""
    place = rng.choice(nodes[1])
    values = tree.values(place)
    if len(np.shape(values)) == 0:
        return drop_node(tree, rng, nodes)
    rows = rng.choice((0, max(0, len(values) - 1), len(values) + 1, len(values) + 5000))
    if rows <= len(values) or tree.form == "mrec":
        tree.cut(place, rows)
    return Mutation(f"{place} has {rows} rows", place)


def drop_node(tree, rng, nodes):
    place = rng.choice([place for place in (*nodes[0], *nodes[1]) if place != "/"])
    tree.delete(place)
    return Mutation(f"{place} is gone", place)


def put_node(tree, rng, nodes):
    """An array where a group was, or a group where an array was, or something new."""
    place = rng.choice([place for place in (*nodes[0], *nodes[1]) if place != "/"])
    kind = rng.randrange(3)
    if kind == 0 and place in nodes[0]:
        tree.delete(place)
        tree.put(place, np.zeros(2))
    elif kind == 1 and place in nodes[1]:
        tree.delete(place)
        tree.group(place)
    else:
        owner = rng.choice(nodes[0])
        name = rng.choice(("box", "_validity", "offset", "step_index", "more", "__x", "meta", "step", "time", "count"))
        place = f"{owner.rstrip('/')}/{name}"
        if tree.has(place):
            return change_type(tree, rng, nodes)
        tree.put(place, np.arange(4, dtype="u8")) if rng.random() < 0.5 else tree.group(place)
    return Mutation(f"{place} is another node", place)


def swap_arrays(tree, rng, nodes):
    """The values of one array in the place of another."""
    source, target = rng.choice(nodes[1]), rng.choice(nodes[1])
    tree.put(target, tree.values(source))
    return Mutation(f"{source} stands in {target}", target)


KINDS = (set_attribute, nudge_attribute, drop_attribute, add_attribute, change_document, change_document, change_values,
         change_type, change_shape, cut_array, drop_node, put_node, swap_arrays)  # fmt: skip


def touched_by(place, name):
    """What an attribute may change in what is read."""
    if place == "/":
        return "/unknown"
    if place in ("/frame", "/system"):
        return f"{place}/@meta"
    if place == "/meta":
        return "/meta"
    if place == "/trajectory":
        return {"nstep": "/trajectory/@nstep", "step_progression": "/trajectory/step",
                "time_progression": "/trajectory/time"}.get(name, EVERYTHING)  # fmt: skip
    return place


# ---------------------------------------------------------------- bytes
def mutate_bytes(path, rng):
    """Change bytes of a file of the record, wherever they are, or those of values."""
    if path.is_dir():
        return [_mutate_file(path, rng)]
    if rng.random() < 0.5:
        place, first, end = rng.choice(_values_in(path))
        data = bytearray(path.read_bytes())
        what = changed_bytes(data, rng, first, end, in_place=True)
        path.write_bytes(data)
        return [Mutation(f"values of {place}: {what}", *([] if path.suffix == ".zip" else [place]))]
    data = bytearray(path.read_bytes())
    what = changed_bytes(data, rng, 0, len(data))
    path.write_bytes(data)
    return [Mutation(what, EVERYTHING)]


def _mutate_file(path, rng):
    """A file of a folder is changed, or gone; every chunk has a checksum, so that a change does not pass."""
    file = rng.choice(sorted(each for each in path.rglob("*") if each.is_file()))
    place, is_chunk = _place_of(file, path)
    if rng.random() < 0.1:
        file.unlink()
        return Mutation(f"{file.relative_to(path)} is gone", place)
    data = bytearray(file.read_bytes())
    what = changed_bytes(data, rng, 0, len(data))
    file.write_bytes(data)
    return Mutation(f"{file.relative_to(path)}: {what}", *([] if is_chunk else [place]))


def _place_of(file, path):
    """What a file of a Zarr tree may change in what is read, and whether it is a chunk."""
    parts = file.relative_to(path).parts
    if parts[-1] != "zarr.json":
        return "/" + "/".join(parts[: parts.index("c")]), True
    place = "/" + "/".join(parts[:-1])
    return {"/trajectory": EVERYTHING, "/": EVERYTHING}.get(place, place), False


def _values_in(path):
    """Where the values of arrays lie in a file: a place, the first byte and the end."""
    if path.suffix == ".zip":
        with zipfile.ZipFile(path) as archive:
            members = [info for info in archive.infolist() if not info.filename.endswith("zarr.json")]
        return [(info.filename, _begin(path, info), _begin(path, info) + info.file_size) for info in members]
    found = []

    def look(name, node):
        if not isinstance(node, h5py.Dataset) or not node.size:
            return
        if node.chunks is None:
            found.append((f"/{name}", node.id.get_offset(), node.id.get_offset() + node.id.get_storage_size()))
            return
        for k in range(node.id.get_num_chunks()):
            chunk = node.id.get_chunk_info(k)
            found.append((f"/{name}", chunk.byte_offset, chunk.byte_offset + chunk.size))

    with h5py.File(path) as file:
        file.visititems(look)
    return found


def _begin(path, info):
    with path.open("rb") as stream:
        stream.seek(info.header_offset + 26)
        name, extra = struct.unpack("<2H", stream.read(4))
    return info.header_offset + 30 + name + extra


def changed_bytes(data, rng, first, end, *, in_place=False):
    """Flip, blank, put in, take out or repeat some bytes, and tell which."""
    done = []
    for _ in range(rng.choice((1, 1, 2, 8))):
        at = rng.randrange(first, max(first + 1, min(end, len(data))))
        kind = rng.choice(("flip", "flip", "set", "blank") if in_place else BYTE_KINDS)
        if kind == "flip" and data:
            data[at] ^= 1 << rng.randrange(8)
        elif kind == "set" and data:
            data[at] = rng.choice((0, 1, 0x30, 0x39, 0x7F, 0xFF, rng.randrange(256)))
        elif kind == "blank":
            stop = min(at + rng.choice((4, 16, 512)), end, len(data))
            data[at:stop] = bytes(max(0, stop - at))
        elif kind == "insert":
            data[at:at] = bytes(rng.randrange(256) for _ in range(rng.choice((1, 3, 8))))
        elif kind == "delete":
            del data[at : at + rng.choice((1, 2, 8, 64, 4096))]
        elif kind == "repeat":
            data[at:at] = data[at : at + rng.choice((8, 64))]
        done.append(f"{kind} at {at}")
    return ", ".join(done)


BYTE_KINDS = ("flip", "flip", "set", "blank", "insert", "delete", "repeat")
