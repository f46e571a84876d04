"""A packed record as it is written: a folder beside it, which is packed when it is closed."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

from molrec_convert.errors import RecordError
from molrec_convert.forms import ZIP

from .zarr_store import ZarrStore
from .zarr_zip import pack


class PackingStore(ZarrStore):
    """A Zarr tree that becomes an archive."""

    form = ZIP
    _target: Path
    _folder: str

    @classmethod
    def create(cls, path: str | Path, *, is_synced: bool = False) -> PackingStore:
        """Make the folder; the archive replaces a file of its name when it is complete."""
        del is_synced  # a writer that is killed leaves no archive
        target = Path(path)
        if target.is_dir():
            raise RecordError("a folder of this name exists", path=path)
        folder = tempfile.mkdtemp(prefix=f"{target.name}.", suffix=".part", dir=target.parent)
        try:
            store = super().create(folder)
        except BaseException:
            shutil.rmtree(folder)
            raise
        assert isinstance(store, cls)
        store.begin(target, folder)
        return store

    def begin(self, target: Path, folder: str) -> None:
        """Say what the archive and its folder are called."""
        self.path, self._target, self._folder = str(target), target, folder

    def close(self) -> None:
        """Pack the tree; a second time does nothing."""
        if self.is_closed:
            return
        try:
            super().close()
            archive = f"{self._folder}.zip"
            pack(self._folder, archive)
            os.replace(archive, self._target)
        finally:
            shutil.rmtree(self._folder, ignore_errors=True)
