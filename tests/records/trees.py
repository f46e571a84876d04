# mypy: disable-error-code="union-attr, index, arg-type, list-item"
"""Stores that tests change behind the library's back: one way to break a record, whatever its form.

The trees here share no code with the library: h5py, zarr-python and JSON alone.
"""

import json
import shutil
import warnings
import zipfile
from contextlib import contextmanager
from pathlib import Path

import h5py
import numpy as np
import zarr

UTF8 = h5py.string_dtype()
SUFFIXES = {"h5": ".h5", "mrec": ".mrec", "zip": ".mrec.zip"}
FORMS = tuple(SUFFIXES)
READY = FORMS
"""The forms that the library reads and writes."""


def path_of(folder, form, name="record"):
    """The path of a record of this form."""
    return folder / f"{name}{SUFFIXES[form]}"


def copied(source, target):
    """A copy of a record, which may be a folder."""
    if source.is_dir():
        shutil.copytree(source, target)
    else:
        shutil.copyfile(source, target)
    return target


@contextmanager
def changing(path):
    """The tree of a record, to be changed."""
    if path.is_dir():
        yield ZarrTree(path)
    elif path.name.endswith(".zip"):
        folder = path.with_name(f"{path.name}-open")
        with zipfile.ZipFile(path) as archive:
            archive.extractall(folder)
        yield ZarrTree(folder)
        pack(folder, path)
        shutil.rmtree(folder)
    else:
        with h5py.File(path, "r+", track_order=True) as file:
            yield Hdf5Tree(file)


def pack(folder, path, method=zipfile.ZIP_STORED):
    """Pack a folder by the rules of the reference implementation."""
    with zipfile.ZipFile(path, "w", method) as archive:
        for each in sorted(folder.rglob("*")):
            if each.is_file():
                info = zipfile.ZipInfo(each.relative_to(folder).as_posix())
                info.compress_type = method
                archive.writestr(info, each.read_bytes())


class Hdf5Tree:
    """An HDF5 file."""

    form = "h5"

    def __init__(self, file):
        self.file = file

    def has(self, place):
        return place in self.file

    def names(self, place):
        return list(self.file[place])

    def is_group(self, place):
        return isinstance(self.file[place], h5py.Group)

    def delete(self, place):
        del self.file[place]

    def group(self, place):
        self.file.create_group(place, track_order=True)

    def put(self, place, values):
        """An array in the place of another, or a new one; its attributes stay."""
        attributes = dict(self.file[place].attrs) if place in self.file else {}
        if place in self.file:
            del self.file[place]
        text = isinstance(values, list)
        data = np.array(values, object) if text else values
        made = self.file.create_dataset(place, data=data, dtype=UTF8 if text else None, track_order=True)
        made.attrs.update(attributes)

    def values(self, place):
        """Values, text as a list."""
        node = self.file[place]
        return node.asstr()[()].tolist() if h5py.check_string_dtype(node.dtype) else node[()]

    def cut(self, place, rows):
        node = self.file[place]
        if node.chunks is None or node.maxshape[0] is not None:
            self.put(place, self.values(place)[:rows])
        else:
            node.resize(rows, axis=0)

    def set(self, place, name, value):
        """An attribute in its native form."""
        attributes = self.file[place].attrs
        if isinstance(value, str):
            attributes.create(name, value, dtype=UTF8)
        elif _has_no_native_form(value):
            self.set_document(place, name, value)
        else:
            attributes.create(name, np.asarray(value))

    def put_fixed(self, place, values):
        """Strings of a fixed length, in the form that records do not have."""
        self.put(place, np.array(values, "S2"))

    def codecs(self, place):
        """The filters of an array."""
        node = self.file[place]
        return [name for name, used in (("shuffle", node.shuffle), (node.compression, node.compression)) if used]

    def set_json_text(self, place, name, text):
        """An attribute that is JSON, of any text."""
        self.file[place].attrs.create(name, text, dtype=UTF8)

    def set_document(self, place, name, value):
        """An attribute that the layout says is JSON."""
        self.file[place].attrs.create(name, json.dumps(value), dtype=UTF8)

    def document(self, place, name):
        return json.loads(self.file[place].attrs[name])

    def get(self, place, name):
        value = self.file[place].attrs[name]
        return value if isinstance(value, str) else value.tolist()

    def attributes(self, place):
        return list(self.file[place].attrs)

    def drop(self, place, *names):
        for name in names:
            del self.file[place].attrs[name]

    def set_box(self, values):
        """The attributes of a fixed cell."""
        for name, value in values.items():
            self.file["trajectory/box"].attrs[name] = np.asarray(value)


def _has_no_native_form(value):
    if isinstance(value, list):
        return any(isinstance(item, str | list | dict) or item is None for item in value)
    return value is None or isinstance(value, dict)


class ZarrTree:
    """A Zarr hierarchy in a folder."""

    form = "mrec"

    def __init__(self, folder):
        self.folder = Path(folder)

    def _node(self, place):
        return self.folder / place.strip("/") / "zarr.json"

    def _read(self, place):
        return json.loads(self._node(place).read_text())

    def _write(self, place, document):
        self._node(place).parent.mkdir(parents=True, exist_ok=True)
        self._node(place).write_text(json.dumps(document))

    def has(self, place):
        return self._node(place).exists()

    def names(self, place):
        return sorted(each.parent.name for each in (self.folder / place.strip("/")).glob("*/zarr.json"))

    def is_group(self, place):
        return self._read(place)["node_type"] == "group"

    def delete(self, place):
        shutil.rmtree(self._node(place).parent)

    def group(self, place):
        self._write(place, {"zarr_format": 3, "node_type": "group"})

    def put(self, place, values):
        """An array in the place of another, or a new one; its attributes stay."""
        attributes = self._read(place).get("attributes", {}) if self.has(place) else {}
        if self.has(place):
            self.delete(place)
        text = isinstance(values, list)
        data = np.array(values, np.dtypes.StringDType()) if text else np.asarray(values)
        zarr.create_array(str(self.folder), name=place.strip("/"), data=data, zarr_format=3, attributes=attributes)

    def values(self, place):
        """Values, text as a list."""
        with warnings.catch_warnings():  # the library does not like what the reference implementation shuffles with
            warnings.simplefilter("ignore", zarr.errors.ZarrUserWarning)
            found = zarr.open_array(str(self.folder), path=place.strip("/"), mode="r")[...]
        return found.tolist() if found.dtype.kind not in "iufcb" else found

    def cut(self, place, rows):
        document = self._read(place)
        document["shape"][0] = rows
        self._write(place, document)

    def set(self, place, name, value):
        """An attribute."""
        document = self._read(place)
        plain = value.tolist() if isinstance(value, np.ndarray | np.generic) else value
        if isinstance(plain, float) and not np.isfinite(plain):
            plain = "NaN" if np.isnan(plain) else "Infinity" if plain > 0 else "-Infinity"
        document.setdefault("attributes", {})[name] = plain
        self._write(place, document)

    def put_fixed(self, place, values):
        """Strings of a fixed length, in the form that records do not have."""
        self.put(place, values)
        document = self._read(place)
        document["data_type"] = {"name": "fixed_length_utf32", "configuration": {"length_bytes": 8}}
        self._write(place, document)

    def codecs(self, place):
        """The codecs of the chunks that lie in shards, or of those that do not."""
        codecs = self._read(place)["codecs"]
        return [codec["name"] for codec in codecs[0].get("configuration", {}).get("codecs", codecs)]

    def set_json_text(self, place, name, text):
        """An attribute of any text, in the place of JSON."""
        self.set(place, name, "@@")
        node = self._node(place)
        node.write_text(node.read_text().replace('"@@"', text))

    def set_document(self, place, name, value):
        """An attribute that the layout says is JSON."""
        self.set(place, name, value)

    def document(self, place, name):
        return self._read(place)["attributes"][name]

    def get(self, place, name):
        return self._read(place)["attributes"][name]

    def attributes(self, place):
        return list(self._read(place).get("attributes", {}))

    def drop(self, place, *names):
        document = self._read(place)
        for name in names:
            del document["attributes"][name]
        self._write(place, document)

    def set_box(self, values):
        """The attributes of a fixed cell."""
        for name, value in values.items():
            self.set("trajectory/box", name, value)
