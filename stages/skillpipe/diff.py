"""A patch from one skill to another, as git reads it."""

import difflib
from collections.abc import Mapping


def folder_diff(old: Mapping[str, bytes], new: Mapping[str, bytes], names: Mapping[str, str]) -> str:
    """A unified diff that `git apply` takes, from the old files to the new; empty when they are the same.

    Both hold the same paths, since an edit neither adds nor removes a file; `names` gives each its path in the
    repository. Line ends stay as they are, CRLF and a missing last one included. Files that differ are UTF-8.
    """
    return "".join(
        _file_diff(old[path].decode(), new[path].decode(), names[path])
        for path in sorted(old)
        if old[path] != new[path]
    )


def _file_diff(old: str, new: str, name: str) -> str:
    lines = difflib.unified_diff(_lines(old), _lines(new), f"a/{name}", f"b/{name}")
    marked = (line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)
    return f"diff --git a/{name} b/{name}\n" + "".join(marked)


def _lines(text: str) -> list[str]:
    """Lines as git counts them: ended by a line feed alone, which str.splitlines does not hold to."""
    parts = text.split("\n")
    return [part + "\n" for part in parts[:-1]] + ([parts[-1]] if parts[-1] else [])
