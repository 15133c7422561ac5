"""The one analyzer, for writing and for reading (M-05). Pure; a change of its answers changes `ANALYZER`.

NFKC, then terms in order of appearance, lower case, with repeats:

- words without stop-words (English, Chinese), lightly stemmed when English;
- identifiers whole *and* in parts (camelCase, snake_case, kebab-case, dots, slashes, digits); paths whole, each
  component, the components' parts; `C++`, `C#`, `.NET` as they are;
- numbers of two to six digits, error codes (`E0277`), versions (`1.2.3`);
- Chinese, Japanese and Korean runs as bigrams, and the run itself when it has 2 to 16 characters. Chinese function
  words cut a run, so that `数据库的备份` holds `数据库` and `备份`; a common word that a cut divides (`申|请`) is a
  term all the same. Thai, Lao, Burmese and Khmer, which have no spaces either, are runs like these.
- Marks belong to the word they stand in: `हिन्दी` is one term.

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
_UNSPACED = (
    "\u0e01-\u0e3a\u0e40-\u0e4e\u0e81-\u0ecd\u1000-\u1049\u1050-\u109d\u1780-\u17d3"  # Thai, Lao, Burmese, Khmer
)
# Marks that stand on or beside a letter and belong to its word; the letters between them are in the ranges too.
_MARKS = (
    "\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u064b-\u065f\u0670"
    "\u06d6-\u06dc\u06df-\u06e8\u06ea-\u06ed\u0711-\u07f3\u0816-\u082d\u0859-\u085b\u0898-\u08e1\u08e3-\u0963\u0981-\u09e3"
    "\u0a01-\u0a75\u0a81-\u0ae3\u0afa-\u0b63\u0b82-\u0bd7\u0c00-\u0c63\u0c81-\u0c83\u0cbc-\u0d4d\u0d57-\u0d63\u0d81-\u0df3"
    "\u0f18\u0f19\u0f35\u0f37\u0f39\u0f3e-\u0f84\u0f86-\u0fbc\u135d-\u135f\u1712-\u1734\u1885-\u193b\u1a17-\u1a1b"
    "\u1a55-\u1a7f\u1ab0-\u1abd\u1abf-\u1b44\u1b6b-\u1b73\u1b80-\u1bf3\u1c24-\u1c37\u1cd4-\u1dff\ua802-\ua827"
    "\ua880-\ua8c5\ua8e0-\ua8f1\ua926-\ua92d\ua947-\ua953\ua980-\ua9c0\uabe3-\uabea\ufe20-\ufe2f"
)
_RUN = re.compile(f"[{_RUN_CHARACTERS}]+|[{_UNSPACED}]+")
# Particles cut a run except inside the few common words that they begin or end.
_PARTICLES = ["(?<![目标])的(?![确士])", "(?<![除为])了(?![解结])", "[吗呢啊嘛]", "请(?!求)"]
_CUT = re.compile("|".join([*_CHINESE_WORDS.split(), *_PARTICLES]))
# Common words (the last row Japanese) of which one half may be cut off: they are terms beside what the cut leaves.
_SPLIT_WORDS = """
申请 邀请 聘请 提请 请教 请示 请假 请客 出现 发现 表现 实现 体现 呈现 重现 再现 显现 原因 基因 统一
唯一 单一 逐一 下载 下拉 下发 下线 下架 下级 对应 响应 相应 适应 反应 供应 效应 合并 归还 场所 许可
认可 突然 后台 后端 功能 性能 可能 智能 作为 认为 称为 办理 问题 在线
完了 終了 修了 満了 了承
"""
_KEPT = re.compile("|".join(_SPLIT_WORDS.split()))
_NAMED = r"[cCgG]\+\+(?![^\W\d])|[cCfF]#(?!\w)|\.[nN][eE][tT](?!\w)"  # names that are mostly symbols
_CHUNK = re.compile(_NAMED + r"|\w+(?:(?:[-.]|[/\\]\.?|::)\w+)*")
_MARKED_CHUNK = re.compile(_CHUNK.pattern.replace(r"\w+", rf"\w[\w{_MARKS}]*"))
_SPLIT = re.compile(r"[-./\\:_]+")
_PIECE = re.compile(rf"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+|[^\W\d_](?:[^\W\d_]|[{_MARKS}])*")
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
    for chunk in dict.fromkeys(_chunks(_RUN.sub(" ", plain))):
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
    place = 0
    if not text.isascii():
        for run in _RUN.finditer(text):
            _words(text[place : run.start()], out)
            parts, before = _cut(run[0]), len(out)
            for part in parts:
                _bigrams(part, out)
            if parts != [run[0]]:
                whole = frozenset(out[before:])
                out.extend(word for word in _KEPT.findall(run[0]) if word not in whole)
            place = run.end()
    _words(text[place:], out)
    return out


def _words(text: str, out: list[str]) -> None:
    """Append the terms of a text without CJK runs."""
    for chunk in _chunks(text):
        out.extend(_of_known_chunk(chunk) if len(chunk) <= LONGEST_WHOLE else _of_chunk(chunk))


def _chunks(text: str) -> list[str]:
    found: list[str] = (_CHUNK if text.isascii() else _MARKED_CHUNK).findall(text)
    return found


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
        if len(component) <= LONGEST_WHOLE:
            found[component.strip("_")] = None
    for word in _SPLIT.split(chunk):
        found.update(dict.fromkeys(_parts(word)))
    return tuple(term for term in found if len(term) > 1 and not (term.isdigit() and len(term) > LONGEST_NUMBER))


_of_known_chunk = lru_cache(maxsize=16_384)(_of_chunk)  # texts repeat their words, and each other's


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
    if all(character.isalpha() or unicodedata.category(character)[0] == "M" for character in chunk):
        return not (chunk[1:].islower() or chunk.isupper() or chunk == chunk.lower())
    return any(character.isalpha() for character in chunk) and len(chunk) > 2
