"""Cut texts to a token budget: the longest first, each from its middle. Pure.

The ends of an attempt say most: how it began, what it came to.
"""

from collections.abc import Sequence

from skillpipe.skill import count_tokens

_BYTES_PER_TOKEN = 4  # the rate of count_tokens


def fit(texts: Sequence[str], tokens: int) -> tuple[list[str], int]:
    """The texts, cut to `tokens` (estimated) in all, and how many tokens were cut.

    All texts longer than a certain length, the same for all, are cut to it, so short ones stay whole. A marker says
    where and how much; markers come on top of the budget. No character is cut in two.
    """
    datas = [text.encode("utf-8", "surrogatepass") for text in texts]
    cap = _cap([len(data) for data in datas], tokens * _BYTES_PER_TOKEN)
    pieces = [_cut(data, cap) for data in datas]
    return [piece for piece, _ in pieces], sum(cut for _, cut in pieces)


def _cap(sizes: Sequence[int], budget: int) -> int:
    """The largest length for which the sizes, each no more than it, add up to the budget at most."""
    left = budget
    for rank, size in enumerate(sorted(sizes)):
        share = left // (len(sizes) - rank)
        if size > share:
            return share
        left -= size
    return max(sizes, default=0)


def _cut(data: bytes, cap: int) -> tuple[str, int]:
    if len(data) <= cap:
        return data.decode("utf-8", "surrogatepass"), 0
    first, last = cap - cap // 2, len(data) - cap // 2
    while first and _inside_character(data, first):
        first -= 1
    while last < len(data) and _inside_character(data, last):
        last += 1
    head, middle, tail = (
        part.decode("utf-8", "surrogatepass") for part in (data[:first], data[first:last], data[last:])
    )
    cut = count_tokens(middle)
    return f"{head}\n[... about {cut} tokens cut here ...]\n{tail}", cut


def _inside_character(data: bytes, at: int) -> bool:
    return data[at] & 0b1100_0000 == 0b1000_0000
