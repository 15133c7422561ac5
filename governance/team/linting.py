"""What is wrong with the files of a repository's memory (team.md 10). Pure: what was read is given.

`block`: the file is not used, or may not stand there so; a check of a repository fails on it. `warn`: it is used, and
better mended. Every rule has its next step here.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from types import MappingProxyType

from governance.team.contracts.results import Finding, Lint
from governance.team.files import (
    ENTRIES,
    INDEX,
    SCENES,
    SKILLS,
    Doctrine,
    Scene,
    Skill,
    named,
    parse_doctrine,
    parse_scene,
    parse_skill,
)
from governance.team.formats import Formats
from governance.team.paths import target
from governance.team.sanitising import blocked, sanitised
from governance.team.trees import EntryFile, Tree, TreeFault
from recall.canonical import canonical
from recall.contracts import Frozen
from recall.team_entry import Entry, EntryFault, parse

MOST_SCENES = 15  # a repository has fewer
MOST_SCREENED = 8 * 1024 * 1024  # bytes of files that are looked through for words
WARNINGS = frozenset({"not-read", "index", "many-scenes", "not-sanitised"})

_MEND = "Mend the file by hand: nothing rewrites it."
_OUT = "Take it out of the memory folder."
_SHORTEN = "Make it shorter, or take the file out."
_FEWER = "Take out what is not needed: nothing of it is used in part."
_PLAIN = "Give it a plain name: letters, digits and hyphens, ending in .md."
NEXT: Mapping[str, str] = MappingProxyType(
    {
        **dict.fromkeys(("no-front-matter", "not-ended", "not-a-field", "bad-value", "no-marker", "no-body"), _MEND),
        **dict.fromkeys(("unknown-field", "missing-field", "duplicate-field", "wrong-order"), _MEND),
        **dict.fromkeys(("line-too-long", "too-many-lines", "too-deep", "too-large", "over-limit"), _SHORTEN),
        **dict.fromkeys(("second-front-matter", "second-marker"), "Keep one of them: a file holds one entry."),
        "identity-mismatch": "Give the marker the id of the front matter, or bring back the file as it was promoted.",
        "duplicate-id": "Keep one of the two files.",
        "conflict-markers": "Resolve the conflict that git left in the file.",
        "bom": "Save the file as UTF-8 without a byte order mark.",
        "cr": "Save the file with LF line ends.",
        "not-utf-8": "Save the file as UTF-8.",
        "control": "Take the control character out.",
        "dangling-successor": "Bring back the entry that took its place, or approve this one again.",
        "cyclic-successor": "Approve the one of them that holds.",
        "session-id": "Take the session's id out.",
        "session-path": "Take the path of the session's file out.",
        "not-sanitised": "Write it without hidden characters, home folders and marks of ours.",
        "not-screened": "Check the rest by their paths.",
        "many-scenes": "Merge scenes: ask for a consolidation.",
        "index": "Bring the file back as it was made, or use the version of the program that made it.",
        "symlink": "Put the file itself there: links are not followed.",
        "hard-link": "Copy the file, so that it has one name.",
        "not-a-file": _OUT,
        "not-read": _OUT,
        "bad-name": _PLAIN,
        "look-alike": "Give one of the two another name.",
        "git-look-alike": _OUT,
        "no-access": "Let the file be read, and try again.",
        "changed": "Try again.",
        **dict.fromkeys(("too-many-names", "too-many-entries", "too-many-scenes", "too-many-skills"), _FEWER),
        "too-many-bytes": _FEWER,
    }
)
FAMILIES: Mapping[str, str] = MappingProxyType(  # of the screen
    {
        "secret": "Take it out, and renew the secret: whoever has the repository has read it.",
        "pii": "Take it out.",
        "injection": "Say it as a fact. As it stands it is handed to nobody.",
        "hidden": "Say it openly. As it stands it is handed to nobody.",
    }
)


class _Found(Frozen, frozen=True, kw_only=True):
    rule: str
    path: str
    problem: str
    line: int = 0


def report(tree: Tree, formats: Formats, paths: Sequence[str] = ()) -> Lint:
    """The findings as a document. `paths`: of these files alone, or of what lies below them; relative to the top."""
    found = [one for one in lint(tree, formats) if not paths or any(_is_below(one.path, path) for path in paths)]
    return Lint(
        format=formats.document("lint"),
        findings=tuple(found),
        files=tree.files,
        blocked=any(one.level == "block" for one in found),
    )


def lint(tree: Tree, formats: Formats) -> tuple[Finding, ...]:
    """All that is wrong with a repository's memory, by path and line."""
    found = [*map(_told, tree.faults), *_index(tree, formats), *_successors(tree.entries), *_counts(tree)]
    left = MOST_SCREENED
    for path, data, said in _said(tree) if tree.complete else ():  # what is not complete is used nowhere
        left -= len(data)
        if left < 0:
            problem = f"More than {MOST_SCREENED} bytes: this file and what follows was not looked through."
            found.append(_Found(rule="not-screened", path=path, problem=problem))
            break
        found += _words(path, data, said)
    return _findings(found)


def lint_file(path: str, data: bytes, memory_root: str, private: Collection[str] = ()) -> tuple[Finding, ...]:
    """What is wrong with one file, as it is or is to be: its path, its form, its words. `private`: names of sessions
    and the like that may not stand in it."""
    if problem := target(path, memory_root):
        return _findings([_Found(rule="bad-name", path=path, problem=problem)])
    made = _parser(path.removeprefix(f"{memory_root}/"))(data)
    if isinstance(made, EntryFault):
        return _findings([_Found(rule=made.code, path=path, problem=made.problem, line=made.line)])
    said = made.content if isinstance(made, Entry) else made.body
    return _findings(_words(path, data, said, private))


def _parser(below: str) -> Callable[[bytes], Entry | Scene | Skill | Doctrine | EntryFault]:
    match below.split("/")[0]:
        case folder if folder == ENTRIES:
            return parse
        case folder if folder == SCENES:
            return lambda data: parse_scene(below, data)
        case folder if folder == SKILLS:
            return lambda data: parse_skill(below, data)
        case _:
            return parse_doctrine


def _told(fault: TreeFault) -> _Found:
    return _Found(rule=fault.code, path=fault.path, problem=fault.problem, line=fault.line)


def _index(tree: Tree, formats: Formats) -> Iterator[_Found]:
    if tree.index is None:
        return
    if tree.index.strip() != canonical({"format": formats.document("memory-index")}):
        problem = "The file says another format than this version of the program writes."
        yield _Found(rule="index", path=f"{tree.folder}/{INDEX}", problem=problem, line=1)


def _successors(entries: Sequence[EntryFile]) -> Iterator[_Found]:
    """Entries whose place nobody took, or whose place they took themselves in the end."""
    after = {one.entry.id: one.entry.superseded_by for one in entries}
    ending: dict[str, bool] = {}  # whether the walk from an id comes to an end
    for one in entries:
        successor = one.entry.superseded_by
        if successor is None:
            continue
        if successor not in after:
            problem = f"{successor} took its place, and is not here."
            yield _Found(rule="dangling-successor", path=one.path, problem=problem)
        elif not _ends(one.entry.id, after, ending):
            problem = f"{successor} took its place, and leads back to it or to another circle."
            yield _Found(rule="cyclic-successor", path=one.path, problem=problem)


def _ends(memory_id: str, after: Mapping[str, str | None], known: dict[str, bool]) -> bool:
    """Every id is walked over once, whatever the number of entries."""
    walked: dict[str, None] = {}
    at: str | None = memory_id
    while at is not None and at not in known and at not in walked:
        walked[at] = None
        at = after.get(at)
    ends = at is None or known.get(at, False)
    known.update(dict.fromkeys(walked, ends))
    return ends


def _said(tree: Tree) -> Iterator[tuple[str, bytes, str]]:
    """Path, bytes and words of every file that is used."""
    if tree.doctrine is not None:
        yield tree.doctrine.path, tree.doctrine.data, tree.doctrine.doctrine.body
    for skill in tree.skills:
        yield skill.path, skill.data, f"{skill.skill.description}\n{skill.skill.body}"
    for scene in tree.scenes:
        yield scene.path, scene.data, f"{scene.scene.summary}\n{scene.scene.body}"
    for one in tree.entries:
        yield one.path, one.data, one.entry.content


def _counts(tree: Tree) -> Iterator[_Found]:
    if len(tree.scenes) >= MOST_SCENES:
        problem = f"There are {len(tree.scenes)} scenes; there should be fewer than {MOST_SCENES}."
        yield _Found(rule="many-scenes", path=f"{tree.folder}/{SCENES}", problem=problem)


def _words(path: str, data: bytes, said: str, private: Collection[str] = ()) -> Iterator[_Found]:
    """What may not stand in a file, and what would have been changed in it."""
    for one in blocked(named(path), sessions=private):
        problem = f"The name may not stand in a repository: {one.excerpt}"
        yield _Found(rule=one.rule, path=path, problem=problem)
    for one in blocked(data.decode(), sessions=private):
        yield _Found(
            rule=one.rule, path=path, problem=f"This may not stand in a repository: {one.excerpt}", line=one.line
        )
    if sanitised(said).strip("\n") != said.strip("\n"):
        problem = "The text holds hidden characters, a home folder, or marks that are read as structure."
        yield _Found(rule="not-sanitised", path=path, problem=problem)


def _findings(found: Sequence[_Found] | Iterator[_Found]) -> tuple[Finding, ...]:
    ordered = sorted(found, key=lambda one: (one.path, one.line, one.rule))
    return tuple(
        Finding(
            level="warn" if one.rule in WARNINGS else "block",
            rule=one.rule,
            path=one.path,
            line=one.line,
            problem=one.problem,
            next=NEXT.get(one.rule) or FAMILIES[one.rule.partition(".")[0]],
        )
        for one in ordered
    )


def _is_below(path: str, asked: str) -> bool:
    return path == asked or path.startswith(f"{asked.rstrip('/')}/")
