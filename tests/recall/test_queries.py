"""What a person may type, in any language and with any sign: right or empty answers, never an error, never all."""

import asyncio
import json
import tempfile
from collections import Counter
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from host.service import Service
from host.sockets import Listener
from host.wire import Connections
from recall import edits
from recall.analyzer import distinct, terms
from recall.contracts import Candidate, Cue, CuePart, Index, Origin, ScopeRef
from recall.entries import INDEXED
from recall.markers import FileHome
from recall.sources.lexical import lexical
from recall.workspace import workspace_key
from tests.support.builders import a_memory, a_memory_id, a_scope, a_workspace_scope
from tests.support.clock import START
from tests.support.library import a_library, a_root, write_records
from tests.support.methods import FakeShell
from tests.support.served import Line
from tests.support.texts import any_text
from tests.support.world import a_world

pytestmark = pytest.mark.promise("any-query")

DATA = Path(__file__).parents[1] / "data" / "adversarial"
RECORDS = {
    "zh-backup": "部署前必须先备份数据库。",
    "zh-apply": "提交权限申请后等待审批",
    "zh-bug": "后来发现在线人数统计有误",
    "ja-backup": "サーバーの再起動前にデータベースのバックアップを取る",
    "ja-exit": "ビルドが完了したら終了コードを確認する",
    "ko-backup": "배포전에데이터베이스백업을확인하세요",
    "hindi": "सर्वर को पुनः आरंभ करें",
    "thai": "รีสตาร์ทเซิร์ฟเวอร์ก่อน",
    "arabic": "أعد تشغيل الخادم أولا",
    "hebrew": "הפעל מחדש את השרת",
    "russian": "Перезапустите сервер перед выпуском",
    "camel": "Call getUserById before the cache is warm.",
    "spaced": "We get the user by its id from the directory.",
    "snake": "parse_config_file reads the toml.",
    "hyphen": "The foo-bar flag disables retries.",
    "cpp": "The C++ build needs clang 17.",
    "csharp": "The C# client is retired.",
    "near": "Near the end of a sprint nobody deploys.",
    "heading": "A page without a title is a draft.",
    "path": "src/billing/invoice.py rounds half-even.",
    "code": "error[E0277] means that a bound is missing.",
    "accent": "Die Größe von café und naïve",
    "wide": "ｆｕｌｌｗｉｄｔｈ letters of gate ７３４",
    "and": "Do and do not: either or.",  # stop-words alone
}

# query -> exactly what it finds
QUERIES: Mapping[str, set[str]] = {
    # two characters of Chinese; Japanese and Korean inside a run
    "备份": {"zh-backup"},
    "数据": {"zh-backup"},
    "申请": {"zh-apply"},
    "审批": {"zh-apply"},
    "发现": {"zh-bug"},
    "在线": {"zh-bug"},
    "火箭": set(),
    "再起動": {"ja-backup"},
    "バックアップ": {"ja-backup"},
    "完了": {"ja-exit"},
    "終了": {"ja-exit"},
    "백업": {"ko-backup"},
    "데이터베이스": {"ko-backup"},
    "ﾊﾞｯｸｱｯﾌﾟ": {"ja-backup"},  # half width
    # other scripts, marks
    "सर्वर": {"hindi"},
    "เซิร์ฟเวอร์": {"thai"},
    "الخادم": {"arabic"},
    "השרת": {"hebrew"},
    "сервер": {"russian"},
    "größe": {"accent"},
    "gro\u0308ße": {"accent"},
    "CAFE\u0301": {"accent"},
    # identifiers, both ways
    "getUserById": {"camel", "spaced"},
    "get user by id": {"camel", "spaced"},
    "GetUserByID": {"camel", "spaced"},
    "get_user_by_id": {"camel", "spaced"},
    "parseConfigFile": {"snake"},
    "config": {"snake"},
    "foo-bar": {"hyphen"},
    "foo bar": {"hyphen"},
    "-foo-bar": {"hyphen"},
    "--foo-bar=1": {"hyphen"},
    "C++": {"cpp"},
    "c++": {"cpp"},
    "C#": {"csharp"},
    "C": set(),
    "invoice.py": {"path"},
    "src/billing": {"path"},
    r"src\billing\invoice.py": {"path"},
    "E0277": {"code"},
    "error[E0277]:": {"code"},
    "ｆｏｏ－ｂａｒ": {"hyphen"},
    "fullwidth": {"wide"},
    "734": {"wide"},
    # the search language of the table beneath
    "AND OR NOT": set(),
    "AND": set(),
    "clang AND toml": {"cpp", "snake"},
    "clang NOT clang": {"cpp"},
    "NEAR(clang build, 5)": {"cpp", "near"},
    "title:draft": {"heading"},
    "tokens:clang": {"cpp"},
    "posting:": set(),
    "{a b}: clang": {"cpp"},
    "^clang": {"cpp"},
    "clang*": {"cpp"},
    "cl*": set(),
    "*": set(),
    "* OR *": set(),
    "+clang": {"cpp"},
    '"unclosed clang': {"cpp"},
    '""""': set(),
    '"clang" "': {"cpp"},
    "'clang": {"cpp"},
    "clang); DROP TABLE record; --": {"cpp"},
    "clang' OR 1=1 --": {"cpp"},
    "((((clang": {"cpp"},
    "))((": set(),
    "1~clang": {"cpp"},
    "%": set(),
    "_": set(),
    "cl_ng": set(),
    "cl%": set(),
    "[clang]": {"cpp"},
    # a word in the typing: the last one completes
    "cla": {"cpp"},
    "clan": {"cpp"},
    "cla ": set(),
    # signs alone
    "": set(),
    "   \t\n": set(),
    "👍": set(),
    "👨‍👩‍👧‍👦 🇨🇳 ❤️": set(),
    "。！？…": set(),
    "\u200b\u200d\ufeff\u2060": set(),
    "\u202e\u2066\u2069": set(),
    "\u0301\u0302\u0303": set(),
    "\x00": set(),
    "\x00\x01\x1b[": set(),
    # such signs about a word
    "\x00clang\x00": {"cpp"},
    "\u202eclang\u202c": {"cpp"},
    "\u2067الخادم\u2069": {"arabic"},
    "clang👍": {"cpp"},
    "👍clang": {"cpp"},
    "\ufeffclang": {"cpp"},
    "the and of a": set(),
    "的 了 吗": set(),
}
ODD = {  # what JSON cannot carry: the library is asked directly
    "\ud800": set[str](),
    "\udfff\ud800": set[str](),
    "clang\ud800": {"cpp"},
    "\udc00 clang": {"cpp"},
}
IDS = {name: a_memory_id(number) for number, name in enumerate(RECORDS, start=1)}
NAMES = {memory_id: name for name, memory_id in IDS.items()}


def all_records(scope: ScopeRef) -> list[Any]:
    return [a_memory(text, memory_id=IDS[name], scope=scope) for name, text in RECORDS.items()]


def a_search(query: str) -> Cue:
    """A person's search, as the verb asks for it."""
    found = distinct(query)
    part = CuePart(role="query", text=query, weight=1.0)
    return Cue(scope=a_scope(), parts=(part,), terms=found, focus=found, retrieval_key="search", limit=50)


async def search(query: str, index: Index) -> list[Candidate]:
    return list(await lexical(a_search(query), index))


async def test_every_query_finds_what_it_should_and_nothing_else(tmp_path: Path) -> None:
    write_records(tmp_path / "memory" / "a.md", all_records(a_workspace_scope()))
    async with a_library(tmp_path / "data") as library:
        await library.adopt(a_root(tmp_path / "memory"))
        index = library.snapshot(START)

        found = {query: {NAMES[hit.memory_id] for hit in await search(query, index)} for query in QUERIES | ODD}

        assert (await library.status()).findings == ()
    assert {query: names for query, names in found.items() if names != (QUERIES | ODD)[query]} == {}


@asynccontextmanager
async def a_socket(folder: Path, run: Path) -> AsyncIterator[tuple[Line, str]]:
    """A served socket over a whole remora that holds `RECORDS`: a client's end, and the folder to search from."""
    async with a_world(folder) as world:
        workspace = world.workspace()
        root = world.parts.roots.private(workspace_key(workspace))
        write_records(Path(root.path) / "records" / "a.md", all_records(root.scope), root.scope)
        shell = FakeShell()
        connections = Connections(Service(world.parts, shell), shell, "1", 4)
        listener = Listener(run / "s", connections)
        await listener.open()
        try:
            async with world_client(listener) as line:
                yield line, workspace
        finally:
            listener.close()
            await connections.drain(2)


@asynccontextmanager
async def world_client(listener: Listener) -> AsyncIterator[Line]:
    reader, writer = await asyncio.open_unix_connection(str(listener.path), limit=1 << 24)
    try:
        async with asyncio.timeout(60):
            yield Line(reader, writer)
    finally:
        writer.close()


async def test_every_query_is_answered_alike_through_the_socket(tmp_path: Path, run_dir: Path) -> None:
    async with a_socket(tmp_path / "data", run_dir) as (line, workspace):
        answers = {query: await line.ask("memory.search", query=query, workspace=workspace) for query in QUERIES}
        line.writer.write(b'{"jsonrpc":"2.0","id":7,"method":"memory.search","params":{"query":"\\ud800"}}\n')
        refused = await line.receive()
        again = await line.ask("memory.search", query="clang", workspace=workspace, explain=True)

    assert [query for query, answer in answers.items() if "error" in answer or answer["result"]["degraded"]] == []
    found = {query: {NAMES[hit["memoryId"]] for hit in one["result"]["hits"]} for query, one in answers.items()}
    assert {query: names for query, names in found.items() if names != QUERIES[query]} == {}
    assert refused["error"]["data"]["kind"] == "parse-error", "JSON has no lone surrogates: said so, and served on"
    assert [NAMES[hit["memoryId"]] for hit in again["result"]["hits"]] == ["cpp"]


LONG = {
    "words": " ".join(f"w{number:06d}w" for number in range(12_000)) + " clang",
    "one word": "x" * 100_000,
    "a path": "a/" * 50_000 + " clang",
    "chinese": "火箭" * 20_000 + "备份",
    "quotes": '"' * 50_000 + " clang " + "(" * 50_000,
    "operators": "AND (OR NOT NEAR " * 7_000 + "clang",
    "emoji": "👍" * 25_000 + "clang",
    "no word": "%*^ " * 30_000,
}
FOUND_BY = {
    "words": {"cpp"},
    "a path": {"cpp"},
    "chinese": {"zh-backup"},
    "quotes": {"cpp"},
    "operators": {"cpp", "near"},
}


async def test_a_query_of_a_hundred_kilobytes_is_answered_like_a_short_one(tmp_path: Path, run_dir: Path) -> None:
    async with a_socket(tmp_path / "data", run_dir) as (line, workspace):
        answers = {name: await line.ask("memory.search", query=LONG[name], workspace=workspace) for name in LONG}
        short = await line.ask("memory.search", query="clang", workspace=workspace)

    assert all(len(query.encode()) >= 100_000 for query in LONG.values())
    found = {
        name: {NAMES[hit["memoryId"]] for hit in answer["result"]["hits"]} if "result" in answer else answer
        for name, answer in answers.items()
    }
    assert found == {name: FOUND_BY.get(name, {"cpp"} if "clang" in LONG[name] else set()) for name in LONG}
    assert [NAMES[hit["memoryId"]] for hit in short["result"]["hits"]] == ["cpp"]


async def test_a_record_of_a_megabyte_is_found_by_what_is_read_of_it_and_spoils_no_other(tmp_path: Path) -> None:
    filling = " ".join(f"filler{number}" for number in range(90_000))
    text = f"zebrafinch {filling} okapi"
    records = [a_memory(text, memory_id=a_memory_id(1)), a_memory("A zebrafinch sings.", memory_id=a_memory_id(2))]
    write_records(tmp_path / "memory" / "a.md", records)
    async with a_library(tmp_path / "data") as library:
        await library.adopt(a_root(tmp_path / "memory"))
        index = library.snapshot(START)

        assert len(text) > 1_000_000 > INDEXED
        assert [hit.memory_id for hit in await search("zebrafinch", index)] == [a_memory_id(2), a_memory_id(1)]
        assert [hit.memory_id for hit in await search("filler7", index)] == [a_memory_id(1)]
        assert await search("okapi", index) == []  # beyond what is indexed of one record
        assert [hit.memory_id for hit in await search(text, index)][:1] == [a_memory_id(1)]


async def test_text_that_hides_or_mixes_scripts_is_found_by_itself(tmp_path: Path) -> None:
    lines = (DATA / "unicode.jsonl").read_text("utf-8").splitlines()
    texts = {a_memory_id(number): json.loads(line)["text"] for number, line in enumerate(lines, start=1)}
    data, kept = a_file(texts)
    (tmp_path / "memory").mkdir()
    (tmp_path / "memory" / "a.md").write_bytes(data)
    async with a_library(tmp_path / "data") as library:
        await library.adopt(a_root(tmp_path / "memory"))
        index = library.snapshot(START)
        for memory_id, text in kept.items():
            found = {hit.memory_id for hit in await search(text, index)}
            assert (memory_id in found) == bool(distinct(text)), ascii(text)

    assert len(kept) > 50


# -- any text at all

HOME = FileHome(path="/m/a.md", relative="a.md", scope=a_workspace_scope(), origin=Origin.USER)


def a_file(texts: Mapping[str, str]) -> tuple[bytes, dict[str, str]]:
    """A memory file of those texts (by memory id) that one can hold, and these."""
    data, kept = b"", {}
    for memory_id, text in texts.items():
        after = edits.append(data, HOME, a_memory(text, memory_id=memory_id))
        if isinstance(after, bytes):
            data, kept[memory_id] = after, text
    return data, kept


def justified(query: str, hit: Candidate) -> bool:
    """Whether the record holds a term of the query, or one that the last word may become."""
    last = (query.lower().split() or [""])[-1]
    return bool(set(distinct(query)) & set(hit.terms)) or any(term.startswith(last) for term in hit.terms)


@settings(max_examples=25)
@given(st.lists(any_text(80), min_size=1, max_size=12), st.lists(any_text(40), min_size=1, max_size=6))
async def test_a_record_of_any_text_is_found_by_its_rarest_term_and_no_query_finds_what_it_does_not_name(
    texts: list[str], queries: list[str]
) -> None:
    data, kept = a_file({a_memory_id(number): text for number, text in enumerate(texts, start=1)})
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "memory").mkdir()
        (Path(folder) / "memory" / "a.md").write_bytes(data)
        async with a_library(Path(folder) / "data") as library:
            await library.adopt(a_root(Path(folder) / "memory"))
            index = library.snapshot(START)
            holders = Counter(term for text in kept.values() for term in set(terms(text)))

            assert (await library.status()).searchable == len(kept)
            for memory_id, text in kept.items():
                held = distinct(text)
                if not held:
                    assert await search(text, index) == []
                    continue
                rarest = min(held, key=lambda term: (holders[term], term))
                hits = await index.match((rarest,), a_scope(), 50)
                assert memory_id in {hit.memory_id for hit in hits}
                assert len(hits) == holders[rarest] and all(rarest in hit.terms for hit in hits)
                assert memory_id in {hit.memory_id for hit in await search(text, index)}
            for query in queries:
                assert all(justified(query, hit) for hit in await search(query, index))
