"""What all registrars share: places that the environment moves, and what speaks for a product."""

from pathlib import Path

from host.setup import REGISTRARS
from host.setup.registrar import LEVELS, evidence
from tests.support.settings import places


def test_a_folder_is_moved_by_an_absolute_path_alone() -> None:
    assert places(Path("/x"), CODEX_HOME="/moved").folder("CODEX_HOME", ".codex") == Path("/moved")
    for odd in ("", "relative"):
        assert places(Path("/x"), CODEX_HOME=odd).folder("CODEX_HOME", ".codex") == Path("/x/home/.codex")


def test_what_speaks_for_a_product_is_named(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    folders = (tmp_path / "a", tmp_path / "b")
    assert evidence(lambda program: "/bin/p", "p", *folders) == ("p is /bin/p", f"{tmp_path / 'a'} exists")
    assert evidence(lambda program: None, "p") == ()


def test_every_product_has_files_at_each_level_below_the_home_or_the_repository() -> None:
    for host, registrar in REGISTRARS.items():
        assert host == registrar.HOST and registrar.TITLE
        for level in LEVELS:
            files = registrar.files(level, places(Path("/x")))
            inside = "/x/home/" if level == "user" else "/x/shop/"
            assert files and all(str(file.path).startswith(inside) for file in files if file.holds != "trust")
