"""The words of a text in any language.

Where a script does not separate its words (Chinese, Japanese, Thai, …) the terms are pieces of two
or three characters. An emoji is a word. Tags of HTML are none.
"""

from __future__ import annotations

import html
import re

__all__ = ["plain_text", "words_in"]

# Marks above and below letters, which Python does not count to words: accents, vowels of Hindi, …
MARKS = "\u0300-\u036f\u0591-\u05bd\u0610-\u061a\u064b-\u065f\u0900-\u0dff\u0e31-\u0e4e"
MARKS += "\u0eb1-\u0ecd\u0f71-\u0fbc\u102b-\u103e\u17b4-\u17d3\u3099\u309a"
SYMBOLS = "\u2600-\u27bf\U0001f300-\U0001faff"  # emoji: each is a word
WORD_PATTERN = re.compile(rf"[\w{MARKS}]+|[{SYMBOLS}]")
SYMBOL_PATTERN = re.compile(f"[{SYMBOLS}]")
# Scripts without blanks between words, and how many characters of each make a piece.
CHINESE_AND_JAPANESE = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0002fa1f"
THAI_AND_OTHERS = "\u0e00-\u0eff\u0f00-\u0fff\u1000-\u109f\u1780-\u17ff"
RUN_PATTERN = re.compile(
    rf"([{CHINESE_AND_JAPANESE}]+)|([{THAI_AND_OTHERS}]+)|"
    rf"[^{CHINESE_AND_JAPANESE}{THAI_AND_OTHERS}]+"
)
# Bounded, so that no text takes long.
TAG_PATTERN = re.compile(r"</?[A-Za-z!][^<>]{0,500}>")
SHORTEST_WORD = 2
LONGEST_WORD = 60


def plain_text(text: str) -> str:
    """The text without tags of HTML, with & for &amp; and the like.

    >>> plain_text("<b>salt</b> &amp; water, 2 < 3")
    ' salt  & water, 2 < 3'
    """
    if "<" in text:
        text = TAG_PATTERN.sub(" ", text)
    return html.unescape(text) if "&" in text else text


def words_in(text: str) -> list[str]:
    """The words of two letters and more, and pieces of runs that blanks do not separate.

    >>> words_in("Über 40 maps, 地図を描く")
    ['Über', '40', 'maps', '地図', '図を', 'を描', '描く']
    """
    words = WORD_PATTERN.findall(text)
    if text.isascii():
        return [word for word in words if SHORTEST_WORD <= len(word) <= LONGEST_WORD]
    return [piece for word in words for piece in _pieces(word)]


def _pieces(word: str) -> list[str]:
    if word.isascii():
        return [word] if SHORTEST_WORD <= len(word) <= LONGEST_WORD else []
    if SYMBOL_PATTERN.match(word):
        return [word]
    pieces: list[str] = []
    for run in RUN_PATTERN.finditer(word):
        text = run[0]
        size = 2 if run[1] else 3 if run[2] else 0
        if size:
            pieces += [text[at : at + size] for at in range(max(1, len(text) - size + 1))]
        elif SHORTEST_WORD <= len(text) <= LONGEST_WORD:
            pieces.append(text)
    return pieces
