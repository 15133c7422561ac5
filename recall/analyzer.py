"""The one analyzer, for writing and for reading (M-05). Pure; a change of its answers changes `ANALYZER`.

NFKC, then terms in order of appearance, lower case, with repeats:

- words without stop-words (English, Chinese), lightly stemmed when English;
- identifiers whole *and* in parts (camelCase, snake_case, kebab-case, dots, slashes, digits); paths whole, each
  component, the components' parts; `C++`, `C#`, `.NET` as they are;
- numbers of two to six digits, error codes (`E0277`), versions (`1.2.3`);
- Chinese, Japanese and Korean runs as bigrams, and the run itself when it has 2 to 16 characters. Chinese function
  words cut a run, so that `数据库的备份` holds `数据库` and `备份`.

A term holds no white space and no quotation mark: besides letters and digits only `_ - . / : + #`.
"""

import itertools
import re
import unicodedata
from functools import lru_cache

import Stemmer

ANALYZER = "lexical_pre_v1"
LONGEST_WORD = 64
LONGEST_WHOLE = 120
LONGEST_NUMBER = 6

_ENGLISH = """
a about above after again all also am an and any are aren as at be because been before being below between both but by
can cannot could couldn did didn do does doesn doing don down during each etc few for from further get gets getting got
had hadn has hasn have haven having he her here hers herself him himself his how however i if in into is isn it its
itself just let ll me more most mustn my myself no nor not now of off ok okay on once only or other our ours ourselves
out over own please re same shall shan she should shouldn so some such than thank thanks that the their theirs them
themselves then there these they this those through to too under until up us ve very via was wasn we were weren what
when where which while who whom whose why will with won would wouldn yes yet you your yours yourself yourselves
"""
_CHINESE_WORDS = """
为什么 怎么样 怎么办 是不是 能不能 有没有 可不可以 怎么 怎样 什么 如何 哪里 哪儿 哪些 哪个 是否 我们 你们 他们 她们 它们
咱们 这个 那个 这些 那些 这里 那里 这样 那样 一下 一个 一些 因为 所以 但是 而且 如果 的话 以及 或者 并且 还是 虽然 然后
可以 现在 已经 需要 应该 请问 就是
"""
_CHINESE_CHARACTERS = "的了吗呢吧啊呀嘛么是在和与及或也都就还很我你他她它这那把被让给对从向请之其于则而且若"
STOP_WORDS: frozenset[str] = frozenset([*_ENGLISH.split(), *_CHINESE_WORDS.split(), *_CHINESE_CHARACTERS])

_RUN_CHARACTERS = (
    "\u3005-\u3007\u3041-\u3096\u3099\u309a\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff\u3400-\u4dbf"
    "\u4e00-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\u1100-\u11ff\U00020000-\U0003ffff"
)
_RUN = re.compile(f"[{_RUN_CHARACTERS}]+")
# Particles cut a run except inside the few common words that they begin or end.
_PARTICLES = ["(?<![目标])的(?![确士])", "(?<![除为])了(?![解结])", "[吗呢啊嘛]", "请(?!求)"]
_CUT = re.compile("|".join([*_CHINESE_WORDS.split(), *_PARTICLES]))
_CHUNK = re.compile(
    r"[cCgG]\+\+(?!\w)|[cCfF]#(?!\w)|\.[nN][eE][tT](?!\w)"  # names that are mostly symbols
    r"|\w+(?:(?:[-.]|[/\\]\.?|::)\w+)*"
)
_SPLIT = re.compile(r"[-./\\:_]+")
_PIECE = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+|[^\W\d_]+")
_PLURAL_ACRONYM = re.compile(r"[A-Z]{2,}s")
_HASH = re.compile(r"(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{7,}")
_QUOTED = re.compile(r"`([^`\n]{2,60})`|\"([^\"\n]{2,60})\"|“([^”\n]{2,60})”|「([^」\n]{2,60})」")
_ERROR = re.compile(r"E[A-Z]{3,}|[A-Z]{1,6}\d{3,5}|[A-Z]\w*(?:Error|Exception|Warning|Panic|Fault)")


def terms(text: str) -> list[str]:
    """Terms of a text in order, with repeats. Any string is accepted; symbols alone give an empty list."""
    found = [term for term in _raw(normal(text)) if term not in STOP_WORDS]
    words = [term for term in dict.fromkeys(found) if term.isascii() and term.isalpha()]
    # An object of its own for every call: a Stemmer is not safe to share between threads.
    stems: dict[str, str] = dict(zip(words, Stemmer.Stemmer("english", 0).stemWords(words), strict=True))
    return [stems.get(term, term) for term in found]


@lru_cache(maxsize=64)  # a segment is asked about by the term ledger and by the cues of three passes
def distinct(text: str) -> tuple[str, ...]:
    """The distinct terms of a text, in order of first appearance."""
    return tuple(dict.fromkeys(terms(text)))


def entities(text: str, limit: int = 16) -> tuple[str, ...]:
    """The things that a text names, lower case, not stemmed: error classes and codes first, then paths and
    identifiers, quoted terms, CJK runs; each group in order of appearance, at most `limit` together."""
    plain = normal(text)
    errors: dict[str, None] = {}
    names: dict[str, None] = {}
    for chunk in dict.fromkeys(_CHUNK.findall(_RUN.sub(" ", plain))):
        if chunk.islower() and chunk.isalpha():  # a plain word names nothing; most chunks are one
            continue
        if len(chunk) > LONGEST_WHOLE or _HASH.fullmatch(chunk):
            continue
        last = chunk.rpartition("::")[2].rpartition(".")[2]
        if _ERROR.fullmatch(last):
            errors[last.lower()] = None
        elif _is_name(chunk):
            names[_whole(chunk)] = None
    quoted = {" ".join("".join(groups).lower().split()): None for groups in _QUOTED.findall(plain)}
    runs = {run: None for run in _runs(plain) if 2 <= len(run) <= 16}
    return tuple({**errors, **names, **quoted, **runs})[:limit]


def normal(text: str) -> str:
    """The text under NFKC, as all functions here read it."""
    return text if text.isascii() else unicodedata.normalize("NFKC", text)


def _raw(text: str) -> list[str]:
    out: list[str] = []
    memo: dict[str, tuple[str, ...]] = {}
    place = 0
    if not text.isascii():
        for run in _RUN.finditer(text):
            _words(text[place : run.start()], memo, out)
            for part in _cut(run[0]):
                _bigrams(part, out)
            place = run.end()
    _words(text[place:], memo, out)
    return out


def _words(text: str, memo: dict[str, tuple[str, ...]], out: list[str]) -> None:
    """Append the terms of a text without CJK runs. `memo`: what this call already knows of a chunk."""
    for chunk in _CHUNK.findall(text):
        known = memo.get(chunk)
        if known is None:
            known = memo[chunk] = _of_chunk(chunk)
        out.extend(known)


def _of_chunk(chunk: str) -> tuple[str, ...]:
    """A word, a number, an identifier, a path or a name of symbols: whole, then components, then parts."""
    if chunk.isalpha() and (chunk[1:].islower() or chunk.isupper()):
        return (chunk.lower(),) if 1 < len(chunk) <= LONGEST_WORD else ()
    if chunk.isdigit():
        return (chunk,) if 2 <= len(chunk) <= LONGEST_NUMBER else ()
    whole = _whole(chunk)
    if chunk[0] == ".":
        return whole, "net"
    if chunk[-1] in "+#":
        return (whole,)
    found: dict[str, None] = {}
    if len(whole) <= LONGEST_WHOLE:
        found[whole] = None
    for component in whole.split("/") if "/" in whole else ():
        found[component.strip("_")] = None
    for word in _SPLIT.split(chunk):
        found.update(dict.fromkeys(_parts(word)))
    return tuple(term for term in found if len(term) > 1 and not (term.isdigit() and len(term) > LONGEST_NUMBER))


def _parts(word: str) -> list[str]:
    """`retryBudgetMs` -> itself in lower case, retry, budget, ms; a hash or an over-long word has no parts."""
    if len(word) > LONGEST_WORD or _HASH.fullmatch(word):
        return []
    lower = word.lower()
    if word.isalpha() and (word[1:].islower() or _PLURAL_ACRONYM.fullmatch(word)):
        return [lower]
    return [lower, *(piece.lower() for piece in _PIECE.findall(word))]


def _whole(chunk: str) -> str:
    return chunk.lower().replace("\\", "/").strip("_")


def _cut(run: str) -> list[str]:
    return [part for part in _CUT.split(run) if part]


def _runs(text: str) -> list[str]:
    return [] if text.isascii() else [part for run in _RUN.findall(text) for part in _cut(run)]


def _bigrams(run: str, out: list[str]) -> None:
    if len(run) <= 2:
        out.append(run)
        return
    if len(run) <= 16:
        out.append(run)
    out.extend(map("".join, itertools.pairwise(run)))


def _is_name(chunk: str) -> bool:
    """Whether a chunk looks like something named by a program: inner punctuation, camelCase, letters with digits."""
    if chunk.isalpha():
        return not (chunk[1:].islower() or chunk.isupper() or chunk.islower())
    return any(character.isalpha() for character in chunk) and len(chunk) > 2
