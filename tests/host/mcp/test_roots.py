"""Which folder a client works in."""

import pytest

from host.mcp.roots import folder


@pytest.mark.parametrize(
    ("roots", "cwd", "expected"),
    [
        ([], "/home/a/project", "/home/a/project"),
        (["file:///home/a/project"], "/", "/home/a/project"),
        (["file:///home/a/project/"], "/home/a/project/src", "/home/a/project"),
        (["file:///home/a", "file:///home/a/project"], "/home/a/project/src", "/home/a/project"),
        (["file:///home/b", "file:///home/a/project"], "/home/a/project", "/home/a/project"),
        (["file:///home/b", "file:///home/c"], "/home/a", "/home/b"),
        (["file:///home/a/my%20project"], "/", "/home/a/my project"),
        (["file:///home/a/%E9%A1%B9%E7%9B%AE"], "/", "/home/a/项目"),
        (["file://localhost/home/a"], "/", "/home/a"),
        (["file:///home/project-two"], "/home/project", "/home/project-two"),  # no folder above it
        (["other://here/a", "file://other-machine/a", "file:relative", "file://[broken"], "/here", "/here"),
        (["file:///a%00b"], "/here", "/here"),
        (["file:///"], "/home/a", "/"),
    ],
)
def test_the_root_that_holds_the_folder_counts_else_the_first_else_the_folder(
    roots: list[str], cwd: str, expected: str
) -> None:
    assert folder(roots, cwd) == expected
