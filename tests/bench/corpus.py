"""A store of any size for the recall bench: made-up memories of the kinds that coding agents keep, always the same.

Word frequencies fall as in real text (Zipf); the frequent ones are those of recorded sessions, so that real events
meet long posting lists. A fifth of the records is Chinese, and each has words of its own: file names, identifiers,
error codes, versions. A *needle* event is a long tool output in which some of one record's words are hidden.
"""

import bisect
import functools
import itertools
import random
from collections.abc import Iterator
from pathlib import Path

from tests.bench import recorded

_LATIN = "ba be bo ca ce co da de di do fa fe fi ga go ha he ka ki la le li lo ma me mi mo na ne no pa pe po ra re ri"
SYLLABLES = _LATIN.split()
HAN = (
    "数据库备份部署测试脚本缓存令牌连接超时配置环境变量日志错误服务接"
    "口版本迁移分支合并构建依赖容器端口权限用户密钥索引队列任务调度"
)
WORDS = 60_000
PER_FILE = 200
_FORMS = (
    "{a} {b} {c}: run `make {id}` before {d} {e}, else {error} in {path} {f} {g} {h} {i} {j} {k} {l}.",
    "When {path} raises {error}, {a} {b} {c} {d} and {e} {f}; {g} {h} {i} {j} since {version}.",
    "{a} of {id} is {b} {c}, not {d}. {e} {f} {g} ({path}:{line}) {h} {i} {j} {k} {l} {m}.",
    "User said: {a} {b} {c} {d} {e} {f} {g} {h} before {i} {j} {k} {l} {m} {n} {o} {p} {q}.",
)


class Vocabulary:
    """Words by rank, drawn with Zipf's law."""

    def __init__(self) -> None:
        chance = random.Random(7)
        real = recorded.words()
        self.words = [
            *real,
            *("".join(chance.choice(SYLLABLES) for _ in range(chance.randint(2, 5))) for _ in range(WORDS)),
        ]
        del self.words[WORDS:]
        self._sums = list(itertools.accumulate(1 / (rank + 10) for rank in range(WORDS)))

    def word(self, chance: random.Random) -> str:
        return self.words[bisect.bisect(self._sums, chance.random() * self._sums[-1])]


@functools.cache
def vocabulary() -> Vocabulary:
    """The one vocabulary, made when it is first needed."""
    return Vocabulary()


def texts(count: int) -> Iterator[str]:
    """`count` memories of about 160 bytes."""
    word = vocabulary().word
    for number in range(count):
        chance = random.Random(number)
        error = f"E{chance.randint(1000, 9999)}"
        name = f"{word(chance)}_{word(chance)}"
        path = f"src/{word(chance)}/{name}{number % 9973}.py"
        if number % 5 == 4:
            han = "".join(chance.choice(HAN) for _ in range(40))
            yield f"{han[:12]}的{han[12:25]}，{name} {error}，{han[25:]}。"
            continue
        letters = {letter: word(chance) for letter in "abcdefghijklmnopq"}
        yield _FORMS[number % len(_FORMS)].format(
            **letters,
            id=f"{name}{number}",
            error=error,
            path=path,
            line=number % 900,
            version=f"{number % 9}.{number % 31}",
        )


def needle(text: str, seed: int) -> str:
    """A tool output of 2 to 3.5 KB with 45 % of a record's words hidden in it."""
    word, chance = vocabulary().word, random.Random(seed)
    own = [one for one in text.split() if chance.random() < 0.45]
    lines = [
        f'  File "src/{word(chance)}/{word(chance)}.py", line {chance.randint(1, 900)}, in '
        f"{word(chance)} {word(chance)}_{word(chance)} {word(chance)}"
        for _ in range(chance.randint(28, 50))
    ]
    for one in own:
        lines[chance.randrange(len(lines))] += f" {one}"
    return "\n".join(lines)


def file_of(folder: Path, place: int, per_file: int = PER_FILE) -> Path:
    """The file that `write` puts record `place` into."""
    number = place // per_file
    return folder / f"{number // 500:03d}" / f"{number:05d}.md"


def write(folder: Path, count: int, per_file: int = PER_FILE) -> None:
    """The store as memory files of `per_file` records."""
    folder.mkdir(parents=True, exist_ok=True)
    source = enumerate(texts(count))
    for number in itertools.count():
        chunk = list(itertools.islice(source, per_file))
        if not chunk:
            return
        body = "\n".join(f"<!-- memory:mem_{place:032x} created={place} -->\n{text}\n" for place, text in chunk)
        target = file_of(folder, number * per_file, per_file)
        target.parent.mkdir(exist_ok=True)
        target.write_text(body, encoding="utf-8")
