"""How many tokens a text costs a model, estimated: what budgets count beside bytes. Pure."""

import re
import unicodedata

_BEYOND = re.compile(r"[^\x00-\x7f]+")


def estimated_tokens(text: str) -> int:
    """About how many tokens a model counts: one for each Chinese, Japanese or Korean character, a quarter for an
    ASCII one, a half for any other. Rounded up."""
    quarters = len(text)
    if not text.isascii():
        for run in _BEYOND.findall(text):
            quarters += sum(3 if unicodedata.east_asian_width(character) in "WF" else 1 for character in run)
    return -(-quarters // 4)
