"""What a source file imports from this project, directly and through others."""

import ast
from collections.abc import Iterator
from pathlib import Path

STAGES = Path(__file__).resolve().parents[1] / "stages"


def closure(script: Path) -> set[Path]:
    """The file itself and every project file that importing it runs, packages' `__init__.py` included."""
    seen: set[Path] = set()
    waiting = [script]
    while waiting:
        path = waiting.pop()
        if path not in seen:
            seen.add(path)
            waiting += [found for name in _imported(path) for found in _files(name)]
    return seen


def _imported(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import; this project imports by full name"
            yield node.module or ""
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def _files(name: str) -> Iterator[Path]:
    parts = name.split(".")
    if parts[0] != "skillpipe":
        return
    for depth in range(1, len(parts) + 1):
        place = STAGES.joinpath(*parts[:depth])
        for path in (place / "__init__.py", place.with_suffix(".py")):
            if path.is_file():
                yield path
