"""The instructions of a task: the prompt's own, with our way of handing in, and a user's wishes behind it."""

import pytest

from governance.formation.prompts import Addition, load, names
from host.growing.handing import CHANGES, NOTES, as_task
from host.namespace import SCRIPT, tool

HANDED = {"notes": NOTES, "scenes": CHANGES, "doctrine": CHANGES, "persona": CHANGES, "skills": CHANGES}


@pytest.mark.parametrize("name", HANDED)
def test_no_task_speaks_of_a_tool_that_the_agent_has_not(name: str) -> None:
    prompt = load(name).text
    task = as_task(prompt, HANDED[name])

    assert "`submit`" in prompt and "`submit`" not in task
    assert tool("memory_stage") in task and f"{SCRIPT} stage --request" in task
    kept, last = task.split("# The answer")
    assert prompt.startswith(kept.rstrip()) and HANDED[name] in last


def test_a_users_wishes_stay_behind_it() -> None:
    prompt = load("notes", Addition(source="user", text="# How\nOnly decisions.")).text

    task = as_task(prompt, NOTES)

    assert task.index("# The answer") < task.index("<additional-wishes ")
    assert prompt[prompt.index("<additional-wishes ") :] == task[task.index("<additional-wishes ") :]


def test_a_prompt_without_such_a_section_gets_it_at_its_end() -> None:
    assert as_task("Do it.", NOTES).startswith("Do it.\n\n# The answer\n")


def test_every_prompt_that_can_be_a_task_is_looked_at() -> None:
    elsewhere = {"batch", "checkpoint"}  # formed by models alone; a range is handed over as notes
    assert {one.split("@")[0] for one in names() if one.split("-")[0].split("@")[0] not in elsewhere} == HANDED.keys()
