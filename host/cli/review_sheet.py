"""The sheet on which the words of an item are put right: its title and text above a line of scissors, what they rest on
below it. Pure.
"""

from collections.abc import Iterable

from recall.contracts import Frozen

SCISSORS = "# ------------------------ >8 ------------------------"
TITLE = "title:"
HELP = (
    "Below this line nothing is kept. Save and close to keep the item in the words above;",
    "close without a change, or leave nothing above, to decide nothing.",
)


class Wording(Frozen, frozen=True, kw_only=True):
    """What an item says."""

    text: str
    title: str = ""


def write(words: Wording, beside: Iterable[str]) -> str:
    """The sheet as a document. `beside`: lines that help to decide."""
    notes = "\n".join(f"# {line}".rstrip() for line in (*HELP, "", *beside))
    return f"{TITLE} {words.title}\n\n{words.text}\n\n{SCISSORS}\n{notes}\n"


def read(document: str) -> Wording:
    """What stands above the scissors; a sheet without a title has none."""
    above, _, _ = document.lstrip("\ufeff").partition(f"\n{SCISSORS}")
    first, _, rest = above.partition("\n")
    if first.strip().lower().startswith(TITLE):
        return Wording(title=" ".join(first.strip()[len(TITLE) :].split()), text=rest.strip())
    return Wording(text=above.strip())
