"""The words and number formats of the page. Pure."""

from typing import Literal

from skillpipe.records import Action, Edit, Usage

Kind = Literal["accepted", "rejected", "idle"]

ACTIONS: dict[Action, tuple[Kind, str]] = {
    "baseline": ("idle", "baseline"),
    "accept_new_best": ("accepted", "accepted, new best"),
    "accept": ("accepted", "accepted"),
    "force_accept": ("accepted", "accepted, no gate"),
    "reject": ("rejected", "rejected"),
    "reject_policy": ("rejected", "rejected by policy"),
    "skip_no_patches": ("idle", "nothing usable proposed"),
    "no_change": ("idle", "no change"),
    "stopped": ("idle", "not run: stopped before"),
}
UNDECIDED: tuple[Kind, str] = ("idle", "not decided")
NOTHING = "–"  # where there is no figure


def three(value: float | None) -> str:
    """A score as the page writes it: 0.925."""
    return NOTHING if value is None else f"{value:.3f}"


def signed(value: float) -> str:
    """A difference of scores with its sign: +0.567, −0.100 (a real minus), ±0.000."""
    rounded = round(value, 3)
    return f"{'+' if rounded > 0 else '−' if rounded < 0 else '±'}{abs(rounded):.3f}"


def count(value: int) -> str:
    """A whole number with thin spaces between thousands: 60 492."""
    return f"{value:,}".replace(",", "\u202f")


def plural(number: int, noun: str) -> str:
    """A number with its noun: 1 task, 2 tasks."""
    return f"{count(number)} {noun}{'' if number == 1 else 's'}"


def p_value(value: float) -> str:
    """A p-value: 0.031, or < 0.001."""
    return "< 0.001" if value < 0.001 else f"{value:.3f}"


def usage(used: Usage) -> str:
    """Calls and tokens: 380 calls, 60 492 tokens."""
    return f"{plural(used.calls, 'call')}, {plural(used.input_tokens + used.output_tokens, 'token')}"


def cost(dollars: float | None) -> str:
    return "not known: no price" if dollars is None else f"${dollars:.4f}"


def what(edit: Edit) -> str:
    """An edit in one line: what it does and where, the file unless it is SKILL.md."""
    place = {"append": "append", "insert_after": "insert after", "replace": "replace", "delete": "delete"}[edit.op]
    region = f", in region {edit.region}" if edit.region else ""
    return f"{place}{region}{'' if edit.file == 'SKILL.md' else f', in {edit.file}'}"


def first_line(text: str, limit: int = 120) -> str:
    """The first line with any ink in it, cut at `limit` characters."""
    line = next((line.strip() for line in text.splitlines() if line.strip()), "")
    return clip(line, limit)


def clip(text: str, limit: int) -> str:
    """The text, or its beginning with an ellipsis where it is longer than `limit` characters."""
    return text if len(text) <= limit else f"{text[:limit].rstrip()} …"


def lines(span: tuple[int, int] | None) -> str:
    """A span of lines: line 5, lines 10 to 11; empty for none."""
    if span is None:
        return ""
    return f"line {span[0]}" if span[0] == span[1] else f"lines {span[0]} to {span[1]}"
