"""Ways of associating, one file each. A source is `async (cue, index) -> candidates`; a new one is one line here."""

from recall.contracts import Source, SourceName
from recall.sources.lexical import lexical
from recall.sources.procedural import procedural
from recall.sources.seed import seed

SOURCES: tuple[tuple[str, Source], ...] = (
    (SourceName.LEXICAL, lexical),
    ("seed", seed),
    (SourceName.PROCEDURAL, procedural),
)
