# mypy: disable-error-code="union-attr, index, arg-type, list-item"
"""Records on a server, read by way of fsspec: with and without parts of files, with and without lists of folders."""

import re
import threading
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from typing import ClassVar

import pytest

import molrec_convert as mc
from molrec_convert.errors import ConvertError, MissingExtraError, OptionError, RecordError
from molrec_convert.model import Block, Column, Frame
from molrec_convert.records import create, open_for_append, open_record

from .builders import rich_frame, write
from .test_append import frames_of

pytest.importorskip("fsspec")
pytest.importorskip("aiohttp")


class Handler(SimpleHTTPRequestHandler):
    """Serves files; whether parts of them, and lists of folders, its server says."""

    asked: ClassVar[list[tuple[str, str, str | None]]] = []
    """Command, path and range of each request."""

    def send_head(self):
        self.asked.append((self.command, self.path, self.headers.get("Range")))
        path = self.translate_path(self.path)
        wanted = re.fullmatch(r"bytes=(\d*)-(\d*)", self.headers.get("Range", ""))
        if not self.server.gives_parts or wanted is None or not path.rstrip("/").startswith(self.directory):
            return super().send_head()
        try:
            with open(path, "rb") as file:
                data = file.read()
        except OSError:
            return super().send_head()
        first = int(wanted[1]) if wanted[1] else max(0, len(data) - int(wanted[2]))
        end = int(wanted[2]) + 1 if wanted[1] and wanted[2] else len(data)
        part = data[first:end]
        self.send_response(206)
        self.send_header("Content-Length", str(len(part)))
        self.send_header("Content-Range", f"bytes {first}-{first + len(part) - 1}/{len(data)}")
        self.end_headers()
        self.wfile.write(part)
        return None

    def list_directory(self, path):
        if not self.server.lists:
            self.send_error(403, "no lists here")
            return None
        return super().list_directory(path)

    def log_message(self, format, *arguments):
        del format, arguments


@pytest.fixture
def serve(tmp_path):
    """Serve the folder of the test: ``serve(gives_parts=True, lists=True)`` gives the address."""
    servers = []

    def start(*, gives_parts=True, lists=True):
        def handler(*arguments):
            return Handler(*arguments, directory=str(tmp_path))

        server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        server.gives_parts, server.lists = gives_parts, lists
        servers.append(server)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        Handler.asked.clear()
        return f"http://127.0.0.1:{server.server_port}"

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


FRAMES = [Frame({**frame, "é 1%?#": Block({"a b&c": [float(k)]})}, box=frame.box, meta=frame.meta)
          for k, frame in enumerate(frames_of(9))]  # fmt: skip


def make(path):
    write(path, FRAMES, system=Frame({"molecules": {"mass": [1.0]}}))
    return path


@pytest.mark.parametrize("gives_parts", [True, False])
@pytest.mark.parametrize("name", ["t.mrec", "t.mrec.zip"])
def test_all_of_a_record(tmp_path, serve, name, gives_parts):
    make(tmp_path / name)
    url = serve(gives_parts=gives_parts)
    with mc.open(f"{url}/{name}") as record:
        assert record.system["molecules"]["mass"].tolist() == [1.0]
        assert len(record) == len(FRAMES)
        for k in (8, 0, 3):
            assert record.trajectory.stored_frame(k).same(FRAMES[k])


@pytest.mark.parametrize("name", ["t.mrec", "t.mrec.zip"])
def test_sections(tmp_path, serve, name):
    with create(tmp_path / name) as writer:
        writer.set_section("frame", rich_frame())
    with mc.open(f"{serve()}/{name}") as record:
        assert record.frame.same(rich_frame())


def test_only_what_is_needed_is_fetched(tmp_path, serve):
    frames = [Frame({"atoms": {"x": [float(k)] * 5000, "y": [0.5 * k] * 5000}}) for k in range(100)]
    write(tmp_path / "t.mrec", frames)
    url = serve(lists=False)
    with mc.open(f"{url}/t.mrec") as record:
        Handler.asked.clear()
        trajectory = record.trajectory
        assert not [path for _, path, _ in Handler.asked if "/c/" in path]
        assert trajectory[50].same(frames[50])
        fetched = [(path, part) for _, path, part in Handler.asked if "/c/" in path]
        assert [path for path, _ in fetched] == ["/t.mrec/trajectory/atoms/x/c/0"] * 2 + [
            "/t.mrec/trajectory/atoms/y/c/0"
        ] * 2
        sizes = [int(part.partition("-")[2]) + 1 - int(part.partition("=")[2].partition("-")[0]) for _, part in fetched]
        assert sizes == [4084, 40004, 4084, 40004]


def test_a_server_that_lists_no_folders(tmp_path, serve):
    """A trajectory declares its blocks; a section does not, and neither do masks."""
    plain = [Frame({"atoms": {"x": [float(k)]}}) for k in range(3)]
    masked = [Frame({"atoms": {"x": Column([1.0, 2.0], valid=[True, k == 0])}}) for k in range(3)]
    write(tmp_path / "plain.mrec", plain)
    for name in ("masked.mrec", "masked.mrec.zip"):
        write(tmp_path / name, masked)
    url = serve(lists=False)
    with mc.open(f"{url}/plain.mrec") as record:
        assert record.trajectory[1].same(plain[1])
    message = r"/trajectory/atoms/_validity: .*a packed record, \.mrec\.zip, is read from any server"
    with mc.open(f"{url}/masked.mrec") as record, pytest.raises(RecordError, match=message):
        assert record.trajectory
    with mc.open(f"{url}/masked.mrec.zip") as record:
        assert record.trajectory[2].same(masked[2])


def test_a_record_is_fetched_and_converted(tmp_path, serve):
    make(tmp_path / "t.mrec")
    make(tmp_path / "t.mrec.zip")
    url = serve()
    for source, target in (("t.mrec", "a.h5"), ("t.mrec.zip", "b.mrec"), ("t.mrec", "c.mrec.zip")):
        report = mc.convert(f"{url}/{source}", tmp_path / target)
        assert (report.source, report.frames) == (source, len(FRAMES))
        with open_record(tmp_path / target) as record:
            assert all(
                found.same(due)
                for found, due in zip(record.trajectory, open_record(tmp_path / "t.mrec").trajectory, strict=True)
            )
    assert len(mc.read(f"{url}/t.mrec.zip", frames="2:5")) == 3


WRONG = {
    "nothing there": ("none.mrec", "no record: there is no zarr.json in it"),
    "no archive there": ("none.mrec.zip", "there is no such file"),
    "no archive": ("text.zip", "a damaged ZIP archive (File is not a zip file)"),
    "no record": ("text", "no record: there is no zarr.json in it"),
}


@pytest.mark.parametrize("name", WRONG)
@pytest.mark.parametrize("gives_parts", [True, False])
def test_what_is_no_record(tmp_path, serve, name, gives_parts):
    for path in ("text.zip", "text"):
        (tmp_path / path).write_text("no record\n" * 10)
    what, message = WRONG[name]
    url = f"{serve(gives_parts=gives_parts)}/{what}"
    with pytest.raises(ConvertError) as caught:
        mc.open(url)
    assert str(caught.value) == f"{url}: {message}"


def test_no_server(serve):
    for name in ("t.mrec", "t.mrec.zip"):
        with pytest.raises(RecordError, match=rf"http://127.0.0.1:9/{name}: .*cannot be read from the network"):
            mc.open(f"http://127.0.0.1:9/{name}")
    with pytest.raises(ConvertError, match=r"x9://a/t\.mrec: an address that cannot be read"):
        mc.open("x9://a/t.mrec")


def test_a_form_that_is_not_read_from_the_network(tmp_path, serve):
    write(tmp_path / "x.h5", FRAMES)
    address = f"{serve()}/x.h5"
    message = f"{address}: only .mrec and .mrec.zip are read from the network: fetch an HDF5 file first"
    with pytest.raises(RecordError, match=f"^{re.escape(message)}$"):
        mc.open(address)
    assert not Handler.asked


def test_a_record_on_the_network_is_only_read(tmp_path, serve):
    make(tmp_path / "t.mrec")
    url = serve()
    with pytest.raises(RecordError, match="a record on the network is only read"):
        open_for_append(f"{url}/t.mrec")
    with pytest.raises(OptionError, match="a target is a file or a folder here, not an address"):
        mc.convert(tmp_path / "t.mrec", f"{url}/u.mrec")


def test_without_fsspec(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "fsspec", None)
    monkeypatch.setitem(__import__("sys").modules, "fsspec.core", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'molrec-convert\[remote\]'"):
        mc.open("https://example.org/t.mrec")


def test_other_file_systems(tmp_path):
    from fsspec.implementations.memory import MemoryFileSystem

    make(tmp_path / "t.mrec")
    make(tmp_path / "t.mrec.zip")
    system = MemoryFileSystem()
    system.put(str(tmp_path), "/records", recursive=True)
    for name in ("t.mrec", "t.mrec.zip"):
        with mc.open(f"memory://records/{name}") as record:
            assert record.trajectory.stored_frame(4).same(FRAMES[4])
