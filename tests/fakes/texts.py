"""Texts that have everything in them that texts of real files have, for property tests."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

# Few enough for lines to come up again; some differ in a part of a character only.
CONTENTS = (
    *("", "a", "b", "c", "  a", "    return x", "}", "a\fb", "a\u2028b", "ab"),
    *(
        "é",
        "e\u0301",
        "e",
        "😀",
        "😀😁",
        "a😀",
        "👩\u200d👧",
        "👩\u200d👦",
        "🇩🇪🇫🇷",
        "🇩🇪",
        "👍🏽",
        "👍",
    ),
)
ENDS = ("\n", "\n", "\n", "\r\n", "\r")

lines = st.builds(str.__add__, st.sampled_from(CONTENTS), st.sampled_from(ENDS))
texts = st.builds(
    lambda lines, last: "".join(lines) + last,
    st.lists(lines, max_size=12),
    st.sampled_from(CONTENTS),
)


@st.composite
def edited(draw: Any, text: str) -> str:
    """A text after somebody edited it here and there, anywhere in its lines."""
    for _ in range(draw(st.integers(0, 4))):
        start = draw(st.integers(0, len(text)))
        end = min(len(text), start + draw(st.sampled_from([0, 0, 1, 2, 5])))
        text = text[:start] + draw(st.one_of(st.just(""), lines, texts)) + text[end:]
    return text


def versions(count: int) -> st.SearchStrategy[tuple[str, ...]]:
    """Texts that have much in common: the first, and others made from it."""
    return texts.flatmap(lambda base: st.tuples(st.just(base), *[edited(base)] * (count - 1)))


pairs = st.one_of(versions(2), st.tuples(texts, texts))
