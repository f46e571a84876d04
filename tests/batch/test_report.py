"""The report: what it counts, and what a person can do with it in a browser."""

import json
import re
import shutil
from html.parser import HTMLParser

import numpy as np
import pytest

import molrec_convert as mc
from molrec_convert.batch import migrate
from molrec_convert.batch.report import write_report
from molrec_convert.batch.report.page import duration_text, size_text
from molrec_convert.batch.report.totals import Totals, general, sorted_groups
from molrec_convert.batch.status import rows_of
from molrec_convert.batch.thumbnail import ATOMS, EXTENT, thumbnail

from .trees import BAD, CUT, SAMPLES, atoms, dump, put

NASTY = "<script>alert(1)</script>.xyz"
COURSE = "".join(f"2\nenergy={-k * k}.5\nO 0 0 0\nH 1 0 {k}\n" for k in range(1, 9))


@pytest.fixture(scope="module")
def out(tmp_path_factory):
    """The folder of a migration of many kinds of files."""
    import sys

    from .conftest import Inline

    folder = tmp_path_factory.mktemp("report")
    files = {f"many/{k:03}.xyz": atoms(k % 7 + 1) for k in range(120)}
    files |= {f"bad/{k}.xyz": BAD for k in range(7)} | {"bad/cut.xyz": CUT, "bad/cut.dump": dump(3)[:-30]}
    files |= {"notes.txt": "text", "course.xyz": COURSE, NASTY.replace("/", ""): BAD}
    files |= {f"samples/{path.name}": path.read_bytes() for path in SAMPLES.glob("*/*") if path.stat().st_size < 60_000}
    put(folder / "in", files)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys.modules["molrec_convert.batch.migrate"], "LocalEngine", Inline)
        migrate([folder / "in"], folder / "out")
    return folder / "out"


class Tags(HTMLParser):
    """Whether what was opened is closed, and what the page refers to."""

    VOID = frozenset(("meta", "input", "link", "br", "img"))

    def __init__(self):
        super().__init__()
        self.open, self.references = [], []

    def handle_starttag(self, tag, attrs):
        if tag not in self.VOID:
            self.open.append(tag)
        self.references += [value for name, value in attrs if name in ("src", "href", "action", "data")]

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def rows_in(page):
    """The data of the page."""
    columns = json.loads(re.search(r'id="columns">(.*?)</script>', page)[1])
    rows = json.loads(re.search(r'id="rows">(.*?)</script>', page, re.DOTALL)[1])
    return [dict(zip([*columns, "texts", "picture"], row, strict=True)) for row in rows]


def test_the_page_needs_nothing_else(out):
    page = (out / "report.html").read_text()
    tags = Tags()
    tags.feed(page)
    assert (tags.open, tags.references) == ([], [])
    assert re.findall(r"https?://\S+", page) == ['http://www.w3.org/2000/svg";']
    assert "default-src 'none'" in page


def test_the_page_has_every_source(out):
    shown = rows_in((out / "report.html").read_text())
    rows = list(rows_of(out))
    assert [row["source"] for row in shown] == [row["source"] for row in rows]
    for one, other in zip(shown, rows, strict=True):
        assert all(one[name] == other[name] for name in ("state", "frames", "size", "output", "output_sha256"))
        assert (other["error"] in one["texts"]) == (other["error"] is not None)


def test_names_and_messages_are_text(out):
    page = (out / "report.html").read_text()
    assert "<script>alert" not in page
    assert any(row["source"].endswith("<script>alert(1)<script>.xyz") for row in rows_in(page))


def test_totals(out):
    totals = Totals()
    for row in rows_of(out):
        totals.add(row)
    assert totals.states["failed"] == 9
    assert totals.states["skipped"] == 1
    groups = sorted_groups(totals.failures)
    assert [(group.kind, group.text, group.count) for group in groups] == [
        ("the file breaks its format", "column y: … is not a number", 8),
        ("the file is cut short", "the file ends after … of … atom lines", 1),
    ]
    assert len(groups[0].examples) == 5
    assert [group.count for group in totals.losses.values()] == [1]
    assert totals.formats["xyz"].failed == 9
    assert totals.frames == sum(row["frames"] or 0 for row in rows_of(out))


@pytest.mark.parametrize(
    ("text", "due"),
    [
        ("a.xyz:4 (frame 0): column y: 'zero' is not a number", "column y: … is not a number"),
        ("in/a.xyz: permission denied", "permission denied"),
        ("a.cub: 12 of -1.5e+3 values x2", "… of … values x2"),
        ("the format is not recognised (unknown)", "the format is not recognised (unknown)"),
    ],
)
def test_messages_of_one_kind(text, due):
    assert general(text) == due


def test_numbers_for_people():
    assert [size_text(n) for n in (0, 999, 1000, 123_456, 5e9, 2e15)] == [
        "0 B", "999 B", "1.0 kB", "123 kB", "5.0 GB", "2000.0 TB",
    ]  # fmt: skip
    assert [duration_text(s) for s in (0.04, 59.94, 61, 7300)] == ["0.0 s", "59.9 s", "1 min 1 s", "2 h 1 min"]


# ---------------------------------------------------------------- pictures
def picture_of(tmp_path, frames):
    mc.write(tmp_path / "a.h5", frames, force=True)
    with mc.open(tmp_path / "a.h5") as record:
        return thumbnail(record)


def structure(count, **columns):
    rows = np.arange(count, dtype=float)
    return mc.Frame({"atoms": {"x": rows, "y": rows * 0, "z": rows[::-1], **columns}})


def test_a_picture_has_few_atoms_within_its_bounds(tmp_path):
    picture = picture_of(tmp_path, structure(5000, element=["O", "H"] * 2500))
    atoms_shown = np.array(picture["atoms"]).reshape(-1, 3)
    assert len(atoms_shown) == ATOMS
    assert (atoms_shown[:, :2].min(), atoms_shown[:, :2].max()) == (0, EXTENT)
    assert set(atoms_shown[:, 2]) == {1, 8}
    assert len(json.dumps(picture)) < 3000


def test_a_cell_is_drawn_with_its_atoms(tmp_path):
    frame = structure(3, element=["C"] * 3)
    frame.box = mc.Box.orthogonal([10, 20, 30])
    picture = picture_of(tmp_path, frame)
    assert len(picture["cell"]) == 12 * 4
    assert (min(picture["cell"]), max(picture["cell"])) == (0, EXTENT)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_places_that_are_none_are_left_out(tmp_path, bad):
    frame = structure(3)
    frame["atoms"]["x"][1] = bad
    assert len(picture_of(tmp_path, frame)["atoms"]) == 2 * 3
    frame["atoms"]["x"][:] = bad
    assert picture_of(tmp_path, frame) is None


def test_the_course_of_an_energy(tmp_path):
    frames = [structure(2) for _ in range(200)]
    for k, frame in enumerate(frames):
        frame.meta["pe"] = float(k)
    picture = picture_of(tmp_path, frames)
    (line,) = picture["lines"]
    assert (line[0], line[-1], len(line)) == (EXTENT, 0, 60)
    assert (picture["low"], picture["high"]) == (0.0, 199.0)


def test_one_atom_and_none(tmp_path):
    assert len(picture_of(tmp_path, structure(1))["atoms"]) == 3
    assert picture_of(tmp_path, mc.Frame({"grid": {"density": [1.0]}})) is None


def test_a_page_has_pictures_up_to_a_bound(out, tmp_path, monkeypatch):
    import molrec_convert.batch.report.page as module

    shutil.copytree(out, tmp_path / "out")
    monkeypatch.setattr(module, "PICTURES", 500)
    rows = rows_in(write_report(tmp_path / "out").read_text())
    shown = [row["picture"] for row in rows if row["picture"] is not None]
    assert 0 < len(json.dumps(shown)) < 900


# ---------------------------------------------------------------- in a browser
@pytest.fixture(scope="module")
def browser():
    """Headless Chromium, where it and its driver are installed."""
    programs = shutil.which("chromium"), shutil.which("chromedriver")
    if None in programs:
        pytest.skip("chromium and chromedriver are not installed")
    webdriver = pytest.importorskip("selenium.webdriver")
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location = programs[0]
    for word in ("--headless=new", "--no-sandbox", "--disable-gpu", "--window-size=1360,1000"):
        options.add_argument(word)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SE_OFFLINE", "true")
        driver = webdriver.Chrome(options=options, service=Service(programs[1]))
    yield driver
    driver.quit()


@pytest.fixture
def page(browser, out):
    """The report, shown, which says nothing on the console."""
    browser.get((out / "report.html").as_uri())
    yield browser
    assert browser.get_log("browser") == []


def sources(page):
    """The sources that the table shows."""
    return [each.text for each in page.find_elements("css selector", "#table tbody code")]


def cells(page, number):
    """A column of the table."""
    return [each.text for each in page.find_elements("css selector", f"#table tbody td:nth-child({number})")]


def choose(page, name, value):
    """Choose a value of a list."""
    from selenium.webdriver.support.ui import Select

    Select(page.find_element("id", name)).select_by_value(value)


def head(page, name):
    """The head of a column."""
    (found,) = [each for each in page.find_elements("css selector", "#table thead th") if each.text.startswith(name)]
    return found


def test_it_opens_on_all_sources(page, out):
    rows = list(rows_of(out))
    assert "out" in page.title
    assert page.find_element("id", "count").text == f"{len(rows)}"
    assert sources(page) == [row["source"] for row in rows[:100]]
    page.find_element("id", "more").click()
    assert sources(page) == [row["source"] for row in rows]
    assert not page.find_element("id", "more").is_displayed()


def test_filters(page, out):
    rows = list(rows_of(out))
    find = page.find_element("id", "find")
    find.send_keys("CUT")
    assert sources(page) == [row["source"] for row in rows if "cut" in row["source"]]
    find.send_keys(" lammps")
    assert sources(page) == ["in/bad/cut.dump"]
    find.clear()
    find.send_keys("zero")  # in a message
    assert len(sources(page)) == 8
    page.refresh()
    choose(page, "state", "failed")
    failed = [row["source"] for row in rows if row["state"] == "failed"]
    assert sources(page) == failed
    assert page.find_element("id", "count").text == f"{len(failed)} of {len(rows)}"
    choose(page, "format", "cube")
    assert sources(page) == []
    page.refresh()
    page.find_element("id", "told").click()
    told = {row["source"] for row in rows if row["warnings"] or row["error"] or row["reason"] or row["notes"]}
    assert set(sources(page)) == told


def test_the_tiles_choose_a_state(page, out):
    tile = page.find_element("css selector", ".tile.failed")
    assert tile.text == "9\nfailed"
    tile.click()
    assert set(cells(page, 3)) == {"failed"}
    assert tile.get_attribute("aria-pressed") == "true"
    tile.click()
    assert len(sources(page)) == 100


@pytest.mark.parametrize(
    ("name", "key"), [("size", "size"), ("frames", "frames"), ("atoms", "atoms"), ("time", "seconds")]
)
def test_sorting(page, out, name, key):
    values = {row["source"]: row[key] for row in rows_of(out)}
    for direction, turn in (("ascending", 1), ("descending", -1)):
        head(page, name).find_element("css selector", "button").click()
        assert head(page, name).get_attribute("aria-sort") == direction
        shown = [values[source] for source in sources(page)]
        known = [value for value in shown if value is not None]
        assert known == sorted(known, key=lambda value: turn * value)
        assert shown[: len(known)] == known  # what is not known stands last


def test_pictures_are_drawn(page):
    page.find_element("id", "find").send_keys("course.xyz")
    (row,) = page.find_elements("css selector", "#table tbody tr")
    structure, course = row.find_elements("css selector", "svg")
    assert len(structure.find_elements("css selector", "circle")) == 2
    assert structure.size["width"] > 50
    assert len(course.find_elements("css selector", "polyline")) == 1
    assert course.get_attribute("aria-label") == "energy, -64.5000 to -1.50000"


def test_the_groups_open(page):
    group = page.find_element("css selector", "#failures details")
    assert group.find_element("css selector", "summary").text == "8 × column y: … is not a number"
    group.find_element("css selector", "summary").click()
    lines = [each.text for each in group.find_elements("css selector", "li")]
    assert len(lines) == 6
    assert lines[-1] == "… and 3 more"
    assert lines[0].endswith("column y: 'zero' is not a number")
