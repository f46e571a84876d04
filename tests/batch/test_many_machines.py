"""A Dask cluster, parts of job arrays, and addresses: the same records as one machine makes of the same files."""

import json
import os
import signal
import socket
import subprocess
import sys
import time

import pytest

from molrec_convert.batch import migrate
from molrec_convert.batch.shards import is_of_shard, parse_shard
from molrec_convert.batch.status import rows_of
from molrec_convert.errors import ConvertError, MissingExtraError, OptionError

from ..converting import command_path, run
from .misbehaving import bad, install
from .trees import BAD, atoms, batch, by_source, dump, lasting, mixed, put, records, states, tar, tree


# ---------------------------------------------------------------- Dask
@pytest.fixture
def cluster(tmp_path):
    """A scheduler and three workers, each a process of its own; and what their environment is."""
    pytest.importorskip("distributed")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        address = f"tcp://127.0.0.1:{probe.getsockname()[1]}"
    (tmp_path / "plugin").mkdir()
    environment = install(tmp_path / "plugin")
    program = [sys.executable, "-P", "-m", "distributed.cli.dask_scheduler", "--host", address, "--no-dashboard"]
    begun = [subprocess.Popen([*program, "--no-show"], env=environment, stderr=subprocess.DEVNULL, cwd=tmp_path)]
    worker = [sys.executable, "-P", "-m", "distributed.cli.dask_worker", address, "--nthreads", "1", "--no-dashboard"]
    begun += [
        subprocess.Popen(
            [*worker, "--no-nanny", "--local-directory", str(tmp_path / f"dask{k}")],
            env=environment,
            stderr=subprocess.DEVNULL,
            cwd=tmp_path,
        )
        for k in range(3)
    ]
    try:
        wait_for_workers(address, 3)
        yield address, begun[1:], environment
    finally:
        for process in begun:
            process.kill()
            process.wait()


def wait_for_workers(address, count):
    from distributed import Client

    end = time.monotonic() + 60
    while True:
        try:
            with Client(address, timeout=5, set_as_default=False) as client:
                client.wait_for_workers(count, timeout=60)
                return
        except (OSError, TimeoutError):
            assert time.monotonic() < end
            time.sleep(0.2)


@pytest.mark.filterwarnings("ignore")
def test_a_cluster_of_which_one_worker_is_killed_midway(tmp_path, cluster):
    address, workers, environment = cluster
    mixed(tmp_path / "in", 120, seed=5)
    put(tmp_path / "in", {f"slow{k}.bad": bad("sleep 0.2") for k in range(30)} | {"crash.bad": bad("segfault")})
    local = subprocess.run([command_path(), "batch", "in", "due", "-q"], cwd=tmp_path, env=environment, check=False)
    command = [command_path(), "batch", "in", "out", "--engine", "dask", "--scheduler", address, "--log", "log"]
    process = subprocess.Popen(command, cwd=tmp_path, env=environment, stderr=subprocess.PIPE, text=True)
    log = tmp_path / "log"
    end = time.monotonic() + 90
    while not log.exists() or log.read_text().count("\n") < 40:
        assert process.poll() is None, process.stderr.read()
        assert time.monotonic() < end
        time.sleep(0.02)
    workers[0].send_signal(signal.SIGKILL)
    told = process.communicate(timeout=120)[1]
    assert process.returncode == local.returncode == 3, told
    assert tree(tmp_path / "out") == tree(tmp_path / "due")
    assert lasting(tmp_path / "out") == lasting(tmp_path / "due")
    assert {row["attempts"] for row in rows_of(tmp_path / "out") if row["finished"]} == {1}
    lines = [json.loads(line)["source"] for line in log.read_text().splitlines()]
    assert len(lines) == len(set(lines))
    assert by_source(tmp_path / "out")["crash.bad"]["error_kind"] == "crash"


def test_no_scheduler(tmp_path):
    pytest.importorskip("distributed")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        address = f"tcp://127.0.0.1:{probe.getsockname()[1]}"
    put(tmp_path / "in", {"a.xyz": atoms()})
    done = run("batch", "in", "out", "--engine", "dask", "--scheduler", address, cwd=tmp_path)
    assert done.status == 1
    assert done.stderr.startswith(f"molrec-convert: {address}: no scheduler answers: ")
    assert states(tmp_path / "out") == {"a.xyz": "pending"}


def test_dask_is_an_extra(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    put(tmp_path / "in", {"a.xyz": atoms()})
    with pytest.raises(MissingExtraError, match=r"needs distributed: pip install 'molrec-convert\[dask\]'"):
        migrate([tmp_path / "in"], tmp_path / "out", engine="dask", scheduler="tcp://127.0.0.1:1")


@pytest.mark.parametrize("given", [{"engine": "dask"}, {"scheduler": "tcp://127.0.0.1:1"}, {"engine": "spark"}])
def test_engines_that_are_none(tmp_path, given):
    put(tmp_path / "in", {"a.xyz": atoms()})
    with pytest.raises(OptionError, match="engine"):
        migrate([tmp_path / "in"], tmp_path / "out", **given)


# ---------------------------------------------------------------- parts
def test_parts_together_are_the_whole(tmp_path, inline):
    source = mixed(tmp_path / "in", 80)
    migrate([source], tmp_path / "due")
    for part in (3, 1, 2):
        migrate([source], tmp_path / "out", shard=(part, 3))
    due, out = tree(tmp_path / "due"), tree(tmp_path / "out")
    assert {name: data for name, data in out.items() if name.endswith(".h5")} == {
        name: data for name, data in due.items() if name.endswith(".h5")
    }
    assert lasting(tmp_path / "out") == lasting(tmp_path / "due")
    names = sorted(path.name for path in (tmp_path / "out").glob("journal*"))
    assert names == [f"journal-{part}-of-3.sqlite" for part in (1, 2, 3)]
    assert (tmp_path / "out" / "report.html").read_text().count('"done"') >= len(records(tmp_path / "due"))


def test_a_part_knows_the_others_names(tmp_path, inline):
    """Each of two sources of one stem keeps its full name, whichever part it is in."""
    source = put(tmp_path / "in", {"run.xyz": atoms(), "run.extxyz": atoms(3), "a.dump": dump()})
    for part in (1, 2):
        migrate([source], tmp_path / "out", shard=(part, 2))
    assert records(tmp_path / "out") == ["a.h5", "run.extxyz.h5", "run.xyz.h5"]
    assert set(states(tmp_path / "out").values()) == {"done"}


def test_every_source_is_of_one_part():
    for count in (1, 2, 7):
        for source in map(str, range(200)):
            assert sum(is_of_shard(source, (part, count)) for part in range(1, count + 1)) == 1
    sizes = [sum(is_of_shard(str(k), (part, 4)) for k in range(4000)) for part in range(1, 5)]
    assert min(sizes) > 900


@pytest.mark.parametrize("text", ["0/3", "4/3", "1", "a/b", "1/0", "-1/3", "1/3/5"])
def test_what_is_no_part(text):
    with pytest.raises(OptionError, match=f"--shard takes a part such as 2/8, from 1/8 to 8/8, not '{text}'"):
        parse_shard(text)
    assert parse_shard("2/8") == (2, 8)


@pytest.mark.parametrize(
    ("first", "then", "how"), [(None, (1, 2), "one part"), ((1, 2), None, "2 parts"), ((1, 2), (1, 3), "2 parts")]
)
def test_a_migration_in_parts_stays_so(tmp_path, inline, first, then, how):
    source = put(tmp_path / "in", {"a.xyz": atoms()})
    migrate([source], tmp_path / "out", shard=first)
    with pytest.raises(OptionError, match=f"this migration was begun in {how}: go on like that, or elsewhere"):
        migrate([source], tmp_path / "out", shard=then)


def test_retry_of_all_parts(tmp_path, inline):
    from molrec_convert.batch import retry

    source = put(tmp_path / "in", {f"{k}.xyz": BAD for k in range(6)})
    for part in (1, 2):
        migrate([source], tmp_path / "out", shard=(part, 2))
    put(source, {f"{k}.xyz": atoms() for k in range(6)})
    found = retry(tmp_path / "out")
    assert (found.done, found.failed) == (6, 0)


# ---------------------------------------------------------------- addresses
def test_sources_at_an_address(tmp_path, inline):
    pytest.importorskip("fsspec")
    files = {"a/one.xyz": atoms(), "two.dump": dump(), "bad.xyz": BAD}
    source = put(tmp_path / "in", files)
    tar(source / "packed.tar.gz", {"three.xyz": atoms(3)})
    migrate([source], tmp_path / "due")
    for _ in range(2):
        found = migrate([f"file://{source}"], tmp_path / "out")
    assert (found.done, found.failed) == (3, 1)
    assert tree(tmp_path / "out") == tree(tmp_path / "due")


def test_one_file_at_an_address(tmp_path, inline):
    pytest.importorskip("fsspec")
    put(tmp_path, {"one.xyz": atoms()})
    migrate([f"file://{tmp_path}/one.xyz"], tmp_path / "out")
    assert records(tmp_path / "out") == ["one.h5"]


def test_files_over_http(tmp_path, inline):
    """A server of this machine, whose folders are listed as web pages."""
    pytest.importorskip("aiohttp")
    from functools import partial
    from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
    from threading import Thread

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *_):
            pass

    put(tmp_path / "in", {"one.xyz": atoms()})
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=tmp_path / "in")) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        migrate([f"http://127.0.0.1:{server.server_port}/one.xyz"], tmp_path / "out")
        server.shutdown()
    assert records(tmp_path / "out") == ["one.h5"]


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("file:///nowhere/at/all", "file:///nowhere/at/all: there is no such file or folder"),
        ("nothing://x", "nothing://x: an address that cannot be read (Protocol not known: nothing)"),
    ],
)
def test_addresses_of_nothing(tmp_path, address, message):
    pytest.importorskip("fsspec")
    with pytest.raises(ConvertError) as error:
        migrate([address], tmp_path / "out")
    assert str(error.value) == message
    assert os.path.isdir(tmp_path / "out")


def test_batch_of_a_part(tmp_path):
    put(tmp_path / "in", {f"{k}.xyz": atoms() for k in range(4)})
    for part in ("1/2", "2/2"):
        batch("in", "out", "--shard", part, "-q", "-j", "1", cwd=tmp_path)
    assert len(records(tmp_path / "out")) == 4
