"""A home folder names its user, however it is spelled: the name goes, and other paths stay."""

import pytest

from governance.team.homes import without_homes


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("cat /home/alice/x", "cat ~/x"),
        ("/Users/bob", "~"),
        ("open file:///home/alice/x", "open ~/x"),
        ("open file://localhost/Users/bob/x", "open ~/x"),
        ("gcc -I/home/alice/include -L/home/alice/lib", "gcc -I~/include -L~/lib"),
        ("-I/home/alice/include", "-I~/include"),
        ("--prefix=/home/alice/opt", "--prefix=~/opt"),
        ("scp host:/home/alice/x .", "scp host:~/x ."),
        ("cd /mnt/c/Users/alice/x", "cd ~/x"),
        ("cd /c/Users/alice/x", "cd ~/x"),
        ("cd /cygdrive/d/Users/alice", "cd ~"),
        ("cd /var/home/alice/x", "cd ~/x"),
        ("cd /export/home/alice", "cd ~"),
        ("cd /System/Volumes/Data/Users/alice/x", "cd ~/x"),
        ("cd //home/alice/x", "cd ~/x"),
        ("cd /home//alice/x", "cd ~/x"),
        (r"C:\Users\alice\x", r"~\x"),
        (r"c:\\users\\alice\\x", r"~\\x"),
        ("c:/users/alice/x", "~/x"),
        (r"\\wsl$\Ubuntu\home\alice\x", r"~\x"),
        (r'{"path":"\/home\/alice\/x"}', r'{"path":"~\/x"}'),
        ("file%3A%2F%2F%2Fhome%2Falice%2Fx", "file%3A%2F%2F~%2Fx"),
        ("?path=%2FUsers%2Fbob%2Fx", "?path=~%2Fx"),
    ],
)
def test_the_user_of_a_home_folder_is_not_named(text: str, told: str) -> None:
    assert without_homes(text) == told
    assert without_homes(told) == told


@pytest.mark.parametrize(
    "text",
    [
        "https://example.test/home/page",
        "https:/" + "/home/page and example.test//home/page",
        "src/home/index.html and ../home/page and ./home/page",
        "GET /users/alice",
        "/Users/Shared/x",
        "/home",
        "/home/<name>/x",
        "home sweet home",
        "x/Users/alice is a folder of the project",
        "~/x",
    ],
)
def test_other_paths_stay(text: str) -> None:
    assert without_homes(text) == text
