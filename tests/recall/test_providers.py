"""Which files of agent products are known, and what of them a product loads by itself."""

import pytest

from recall.contracts import Frozen
from recall.legacy import ALWAYS
from recall.providers import HOSTS, OTHERS, PROVIDERS, held_by, imports, loaded_by, slug


class At(Frozen, frozen=True, kw_only=True):
    """A place in a provider's file."""

    provider: str
    relative: str = "x.md"
    line: int = 1
    byte: int = 0
    tags: tuple[str, ...] = ()


@pytest.mark.parametrize(
    ("at", "hosts"),
    [
        (
            At(provider="claude-md", relative="CLAUDE.md", line=9_000, byte=400_000),
            {"claude-code", "cursor", "opencode"},
        ),
        (At(provider="claude-memory", relative="MEMORY.md", line=200, byte=25_599), {"claude-code"}),
        (At(provider="claude-memory", relative="MEMORY.md", line=201, byte=9_000), set()),
        (At(provider="claude-memory", relative="MEMORY.md", line=20, byte=25_600), set()),
        (At(provider="claude-memory", relative="git-push-rule.md"), set()),
        (At(provider="claude-memory", relative="old/MEMORY.md"), set()),
        (At(provider="claude-rules"), {"claude-code"}),
        (At(provider="claude-rules", tags=("src/**/*.ts",)), set()),
        (At(provider="agents-md", byte=32_767), {"codex", "cursor", "opencode"}),
        (At(provider="agents-md", byte=32_768), {"cursor", "opencode"}),
        (At(provider="gemini-md"), {"gemini-cli"}),
        (At(provider="cursor-rules"), set()),
        (At(provider="cursor-rules", tags=("**/*", ALWAYS)), {"cursor"}),
        (At(provider="cursorrules"), {"cursor"}),
        (At(provider="copilot"), set()),
        (At(provider="memory-md"), set()),
        (At(provider="agents-md gemini-md"), {"codex", "cursor", "opencode", "gemini-cli"}),
        (At(provider="agents-md of-a-later-version"), set(HOSTS)),
    ],
)
def test_what_a_product_loads_is_known_by_file_and_place(at: At, hosts: set[str]) -> None:
    assert set(loaded_by(at.provider, at.relative, at.line, at.byte, at.tags)) == hosts | {OTHERS}


def test_a_memory_file_of_ours_is_loaded_by_nobody() -> None:
    assert loaded_by("", "CLAUDE.md", 1, 0) == ()


@pytest.mark.parametrize(
    ("host", "loaded", "held"),
    [
        ("claude-code", ("*", "claude-code"), True),
        ("codex", ("*", "claude-code"), False),
        ("codex", (), False),
        ("socket", ("*",), True),  # the unknown producer
        ("a-new-product", ("*", "codex"), True),
        ("a-new-product", (), False),
        ("", ("*", "codex"), False),  # a person's search is nobody's context
    ],
)
def test_a_host_that_is_not_known_may_hold_every_providers_file(host: str, loaded: tuple[str, ...], held: bool) -> None:
    assert held_by(host, loaded) is held


def test_every_kind_of_file_can_be_told_from_the_others() -> None:
    names = [name for provider in PROVIDERS.values() for name in (*provider.names, *provider.folders)]

    assert len(names) == len(set(names))
    assert all(
        not name.startswith("/") and ".." not in name and " " not in kind for kind in PROVIDERS for name in names
    )


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("@AGENTS.md\n", ("AGENTS.md",)),
        ("See @docs/testing.md and @./AGENTS.md.", ("docs/testing.md", "AGENTS.md")),
        ("- (@AGENTS.md)\n- @AGENTS.md", ("AGENTS.md",)),
        ("mail me@AGENTS.md or @types/node", ()),
        ("```\n@AGENTS.md\n```\nafter", ()),
        ("@../AGENTS.md @/etc/AGENTS.md @~/AGENTS.md", ("../AGENTS.md",)),  # by its place, not by the user's folders
        ("", ()),
    ],
)
def test_a_claude_file_names_what_it_takes_in(text: str, found: tuple[str, ...]) -> None:
    assert imports(text) == found


def test_imports_are_read_in_linear_time() -> None:
    assert len(imports("@" + "a/" * 20_000 + "x.md\n" + "```\n" * 9_999)) == 1


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("/u/dev/my.project_2", "-u-dev-my-project-2"),
        ("/u/dev/проект", "-u-dev-------"),
        ("/u/🙂", "-u---"),  # two UTF-16 units
    ],
)
def test_a_projects_folder_name_has_a_dash_for_everything_else(path: str, name: str) -> None:
    assert slug(path) == name
