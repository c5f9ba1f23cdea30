"""docs/artifacts.md names every file that is published, and every field of what is published for programs."""

from dataclasses import fields, is_dataclass
from pathlib import Path

import pytest

from skillpipe.publishing.manifest import PUBLISHED
from skillpipe.records import phase, publish

TEXT = (Path(__file__).resolve().parents[1] / "docs" / "artifacts.md").read_text("utf-8")
KINDS = [
    kind
    for module in (phase, publish)
    for kind in vars(module).values()
    if is_dataclass(kind) and kind.__module__ == module.__name__
]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_every_field_is_documented(kind):
    assert [field.name for field in fields(kind) if f"`{field.name}`" not in TEXT] == []


@pytest.mark.parametrize("path", PUBLISHED.values())
def test_every_published_file_is_documented(path):
    assert f"`{Path(path).parts[0]}" in TEXT
