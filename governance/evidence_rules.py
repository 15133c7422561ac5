"""G-01, the rules: when a text cites a record, a call reuses it, a user's words correct it. Pure.

Each rule says no when in doubt. What stood in the session before the record was shown proves nothing of the record;
what everybody does in every project proves nothing at all; who writes a record down again has not used it.
"""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence

from governance.evidence_words import Complaint, Turn
from recall.analyzer import STOP_WORDS, distinct
from recall.contracts import Frozen

QUOTE = 40  # characters of a record that a text repeats, to count as a quotation of it
FEWEST_SPACES = 3  # in a quotation
_BLOCK = QUOTE // 2  # any 40 characters hold a block of 20 that begins at a multiple of 20... less one
DIGEST = 16  # first digits of a record's digest that name it
FEW_FILES = 3  # of a record that names more, two files have to be touched at once
SHORTEST = 6  # characters of an identifier that is looked for
LONG_NAME = 12  # characters of an identifier that says enough alone, when it has two parts
WORD, PAIR = 3, 2  # what a shared word counts, and a pair of Chinese characters
SUBJECT = 2 * WORD  # what a correction shares with a record besides what it takes back
SUBJECT_OF_VALUE = WORD  # the same when what it takes back is a number, a version or an identifier
_HEX = re.compile(rf"(?<![0-9A-Za-z])[0-9a-f]{{{DIGEST},64}}(?![0-9A-Za-z])")
_SPACE = re.compile(r"[\s*_`#>|]+")
_CLAUSE = re.compile(r"[.!?;:](?=\s|$)|[。！？；：，\n]|,\s|\s[-–—]\s|\(|\)|（|）")
_DENIES = re.compile(
    r"\b(?:not|no|never|cannot|without|neither|nor|none|no longer|instead of|rather than|avoid\w*|forbid\w*|except"
    r"|deprecated|removed|dropped|formerly|previously|used to|stop\w*)\b|n't\b"
    r"|不|没|无(?!论)|未|别(?!的|名)|勿|禁止|停用|废弃|取消|避免|以前|原来|旧",
    re.IGNORECASE,
)
_VALUE = re.compile(r"\d|[a-z][A-Z]|\w[-_./:]\w")
_STATE = re.compile(r"\w+(?:ing|ed)$")  # of a thing, not what it is: running, failed
_BREAKS = r"(?:fail|error|hang|break|die|crash|complain|stall|time)(?:s|ed|ing)?(?: out)?\b|is (?:red|stuck|broken)\b"
_TROUBLE = re.compile(
    rf"\b(?:when|if|whenever|once|after|before|unless)\b[^;\n]{{0,200}}?(?:{_BREAKS})[^.,;:\n]{{0,200}}"
    r"|(?:当|如果|若|要是|一旦)[^。；\n]{0,120}?(?:失败|报错|出错|卡住|崩溃|超时)",
    re.IGNORECASE,
)
_FAILS = re.compile(
    rf"`[^`\n]{{1,200}}` (?:often |sometimes |always )?(?:{_BREAKS})"
    r"|`[^`\n]{1,200}` ?(?:会|总|常)?(?:失败|报错|出错)",
    re.IGNORECASE,
)
_PART = re.compile(r"(?<=[.;:])(?=\s)|(?<=[。；：\n])")
_LACKS = re.compile(
    r"\b(?:leaves? out|miss(?:es)?|lacks?|ignores?|drops|hides|breaks|loses|cannot|can't|won't|no longer"
    r"|(?:is|are|do|does|can|will|must|should) ?n[o']t)\b"
    r"|不会|不能|没有|无法|不支持|不再|漏掉|忽略",
    re.IGNORECASE,
)
_UNTIL = re.compile(r"^.*?\b(?:fails|hangs|breaks|dies|crashes|errors|stalls|times out)\b", re.IGNORECASE | re.DOTALL)
_AGAINST = re.compile(
    r"(?:\b(?:not|never|avoid|instead of|rather than|without|don't)\b|而不是|不要|不用|别用|避免).*",
    re.IGNORECASE | re.DOTALL,
)
_EVERYDAY = """
cargo:add cargo:build cargo:check cargo:clippy cargo:fmt cargo:run cargo:test docker:build docker:ps docker:run
docker:logs git:add git:blame git:branch git:checkout git:clone git:commit git:diff git:fetch git:init git:log git:merge
git:pull git:push git:rebase git:reset git:restore git:show git:stash git:status git:switch git:tag go:build go:fmt
go:get go:mod go:run go:test go:vet make:all make:build make:clean make:install make:lint make:test npm:build npm:ci
npm:i npm:install npm:run npm:start npm:test pip:install pip3:install pnpm:add pnpm:build pnpm:dev pnpm:install pnpm:run
pnpm:start pnpm:test poetry:add poetry:install poetry:run python:-m python3:-m uv:add uv:pip uv:run uv:sync yarn:add
yarn:build yarn:install yarn:run yarn:start yarn:test
"""
_everyday = frozenset(tuple(pair.split(":")) for pair in _EVERYDAY.split())
_TOOLS = """
agent askuserquestion enterplanmode exitplanmode requestuserinput sendmessage task taskcreate taskupdate todoread
todowrite updateplan writetodos
"""
_OPTIONS = "-a -m -r -v -x -q . .. ./ ./... install test build dev start lint run check --"
_FILES = """
agents.md app.js app.py app.ts build.gradle cargo.toml changelog.md claude.md composer.json config.json config.py
config.toml config.yaml config.yml conftest.py docker-compose.yml docker-compose.yaml dockerfile gemfile gemini.md
go.mod index.html index.js index.ts index.tsx lib.rs main.c main.go main.py main.rs main.ts makefile memory.md mod.rs
package.json package-lock.json pom.xml procfile pyproject.toml rakefile readme.md requirements.txt settings.json
settings.py setup.cfg setup.py test.py todo.md tox.ini tsconfig.json types.ts utils.py yarn.lock __init__.py
"""
_talking, _everyday_words, _everyday_files = (frozenset(words.split()) for words in (_TOOLS, _OPTIONS, _FILES))


# ------------------------------------------------------------------------------------------------------------- cite


class Quotable:
    """The texts of some records, so that what is quoted of them is found in one walk over a text, however many they
    are."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        self._texts = {memory_id: squeezed(text) for memory_id, text in texts.items()}
        self._blocks: dict[str, list[tuple[str, int]]] = {}
        for memory_id, text in self._texts.items():
            for place in range(0, len(text) - _BLOCK + 1, _BLOCK):
                self._blocks.setdefault(text[place : place + _BLOCK], []).append((memory_id, place))

    def quoted(self, text: str) -> frozenset[str]:
        """The records of which a text repeats at least QUOTE characters in a row; white space and marks of Markdown do
        not count."""
        said, blocks = squeezed(text), self._blocks
        found: set[str] = set()
        if len(said) < QUOTE or not blocks:
            return frozenset()
        for place in range(len(said) - _BLOCK + 1):
            for memory_id, at in blocks.get(said[place : place + _BLOCK], ()):
                if memory_id not in found and _is_quotation(_alike(said, place, self._texts[memory_id], at)):
                    found.add(memory_id)
        return frozenset(found)


def squeezed(text: str) -> str:
    """The text as quotations are compared: lower case, white space and marks of Markdown as one space."""
    return _SPACE.sub(" ", text).strip().lower()


def digests_in(text: str) -> frozenset[str]:
    """The beginnings of digests that a text holds: to be compared with the first 16 digits of a record's."""
    return frozenset(found[:DIGEST] for found in _HEX.findall(text))


def _is_quotation(piece: str) -> bool:
    """Whether this is long enough to be quoted, and words: a long path is no quotation."""
    return len(piece) >= QUOTE and (piece.count(" ") >= FEWEST_SPACES or not piece.isascii())


def _alike(one: str, place: int, other: str, at: int) -> str:
    """What two texts have in common around these places."""
    back = 0
    while back < min(place, at) and one[place - back - 1] == other[at - back - 1]:
        back += 1
    on = 0
    while place + on < len(one) and at + on < len(other) and one[place + on] == other[at + on]:
        on += 1
    return one[place - back : place + on]


# ------------------------------------------------------------------------------------------------------------ reuse


class Hits(Frozen, frozen=True, kw_only=True):
    """What of a record a tool call holds that its session did not hold before. `names_files`: how many files the record
    names; `restated`: the call writes the record's own words down."""

    anchor: bool = False
    commands: int = 0
    files: int = 0
    names_files: int = 0
    identifiers: tuple[str, ...] = ()
    restated: bool = False


def advice(text: str) -> str:
    """What a record advises: without the trouble that it is about, and without what it advises against or says is not
    so. Who runs into the trouble does not follow it."""
    plain = _FAILS.sub(" … ", _TROUBLE.sub(" … ", text))
    parts = (_UNTIL.sub("", part) for part in _PART.split(plain) if not _LACKS.search(part))
    return "".join(_AGAINST.sub("", part) for part in parts)


def telling_command(words: Sequence[str]) -> bool:
    """Whether to run this says something: `git status` and `npm test` are run everywhere."""
    program = words[0].rpartition("/")[2]
    rest = [word for word in words[1:] if word not in _everyday_words]
    if len(words) > 1 and (program, words[1]) in _everyday:
        rest = [word for word in words[2:] if word not in _everyday_words]
    return bool(rest)


def acts_on_its_own(tool: str) -> bool:
    """Whether a tool does something, and does not only say what is to be done."""
    return tool.lower().replace("_", "") not in _talking


def telling_file(name: str) -> bool:
    """Whether to touch this file says something: every project has a README.md."""
    return "/" in name.strip("./~") or name.rpartition("/")[2].lower() not in _everyday_files


def telling_name(name: str) -> bool:
    """Whether an identifier is one that nobody writes by chance: with a sign or a digit that words do not have, or of
    three words at least. `dry-run` is two words."""
    if not name.isascii() or len(name) < SHORTEST or " " in name or "/" in name:
        return False
    return not name.replace("-", "").isalpha() or name.count("-") > 1


def reuses(hits: Hits) -> bool:
    """Whether a call uses a record: it names it; runs a command of it; touches its file, or two of its many; or holds
    two of its identifiers, or a long one together with nothing against it."""
    if hits.anchor or hits.commands:
        return True
    if hits.restated:
        return False
    if hits.files >= (1 if hits.names_files <= FEW_FILES else 2):
        return True
    if hits.files and hits.identifiers:
        return True
    return len(hits.identifiers) >= 2 or any(_long(name) for name in hits.identifiers)


def _long(name: str) -> bool:
    return len(name) >= LONG_NAME and len([part for part in re.split(r"[-_.:]+", name) if part]) >= 2


# ------------------------------------------------------------------------------------------------------- correction


class Shown(Frozen, frozen=True, kw_only=True):
    """A record that was seen, read or cited in this session, with its text as it was shown. `latest`: it was shown
    since the user spoke last."""

    memory_id: str
    text: str
    terms: frozenset[str]  # of the text, as `terms_of` finds them
    latest: bool


def corrected(said: Complaint, shown: Iterable[Shown]) -> tuple[str, ...]:
    """Which of the records a complaint takes back: those that it names; the one that it points at; those of which it
    rejects what they affirm, and speaks of the same matter."""
    records = list(shown)
    if said.ids:
        return tuple(one.memory_id for one in records if one.memory_id in said.ids)
    spoken = terms_of(said.said)
    turns = [(turn, terms_of(turn.rejected), terms_of(turn.proposed)) for turn in said.turns]
    found = [one.memory_id for one in records if any(_takes_back(*turn, spoken, one) for turn in turns)]
    if found or not said.pointed:
        return tuple(found)
    latest = [one for one in records if one.latest]
    if len(latest) > 1:
        latest = [one for one in latest if _weight(spoken & one.terms) >= SUBJECT]
    return (latest[0].memory_id,) if len(latest) == 1 else ()


def _takes_back(
    turn: Turn, rejected: frozenset[str], proposed: frozenset[str], spoken: frozenset[str], record: Shown
) -> bool:
    """Whether a record affirms what is rejected, says nothing of what is put in its place, and shares its subject."""
    if not rejected or not rejected <= record.terms or _STATE.fullmatch(turn.rejected.lower()):
        return False
    fresh = proposed - rejected
    if turn.proposed and (not fresh or fresh <= record.terms):
        return False
    subject = (spoken & record.terms) - rejected - proposed
    if _weight(subject) < (SUBJECT_OF_VALUE if _VALUE.search(turn.rejected) else SUBJECT):
        return False
    return _affirms(record.text, rejected) and not (proposed and _affirms(record.text, proposed))


def _affirms(record: str, wanted: frozenset[str]) -> bool:
    """Whether a clause of the record that denies nothing says all of this."""
    clauses = [one for one in _CLAUSE.split(record) if one and one.strip()]
    return any(wanted <= terms_of(one) for one in clauses if not _DENIES.search(one))


def terms_of(text: str) -> frozenset[str]:
    """The terms of a text; Chinese, Japanese and Korean by pairs: a longer run is its neighbours' business."""
    return frozenset(term for term in distinct(text) if term.isascii() or len(term) <= 2)


def _weight(terms: Collection[str]) -> int:
    """How much these terms are: an identifier counts once, a pair of Chinese characters less than a word."""
    whole = [term for term in terms if not term.isalnum()]
    own = [term for term in terms if not any(term in one and term != one for one in whole) and term not in STOP_WORDS]
    return sum(WORD if term.isascii() else PAIR for term in own)
