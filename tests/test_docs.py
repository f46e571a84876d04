"""What the documents say is what the code does."""

import re
from pathlib import Path

from molrec_convert import registry
from molrec_convert.carried import carried_table

ROOT = Path(__file__).parent.parent


def test_readme_has_the_table_of_what_each_format_carries():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    shown = re.search(r"<!-- formats -->\n(.*?)<!-- /formats -->", readme, re.DOTALL)
    assert shown is not None
    assert shown[1] == carried_table(registry.adapters()), "run: molrec-convert formats --table"


def test_the_smallest_adapter_of_the_guide_works():
    guide = (ROOT / "adapters" / "README.md").read_text(encoding="utf-8")
    code = re.search(r"```python\n(.*?)```", guide, re.DOTALL)
    assert code is not None
    names: dict = {}
    exec(code[1], names)
    exporter, importer = names["FORMAT"].exporter("x", None), names["FORMAT"].importer("x", None)
    text = b"O 0 0 0\nH 1 2 3.5\n"
    from molrec_convert.adapter import Span

    snapshot = importer.decode(Span(0, 1, 0, len(text), data=text))
    assert snapshot.frame["atoms"]["z"].tolist() == [0.0, 3.5]
    assert exporter.encode(snapshot, 0) == text
