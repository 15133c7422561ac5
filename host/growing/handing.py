"""A prompt as the instructions of a task. A model ends by its own tool; the running agent hands its answer in by one of
ours, or by the command line. So the section on that, the last of each prompt, is another one; a user's wishes behind it
stay.
"""

import re

from host.namespace import SCRIPT, tool

_LAST = re.compile(r"^# (?:The answer|How)\n.*?(?=\n\n<additional-wishes |\Z)", re.MULTILINE | re.DOTALL)
_ANSWER = f"""# The answer

{{form}} Hand it in with the tool `{tool("memory_stage")}`, as its `document`; without that tool, write it to a file and
run `{SCRIPT} stage --request FILE`. To print it hands nothing in."""
NOTES = "One JSON object, as `contract` says: `format`, `taskId` and `binding` as the task has them, and `notes`."
CHANGES = (
    "One JSON object, as `schema` says: `format` and `taskId` as the task has them, and what is to be changed, in its "
    "order. Only what is shown whole can be changed."
)


def as_task(instructions: str, form: str) -> str:
    """The instructions with our way of handing in. `form`: what the answer is, NOTES or CHANGES."""
    answer = _ANSWER.format(form=form)
    replaced, count = _LAST.subn(lambda _: answer, instructions, count=1)
    return replaced if count else f"{instructions}\n\n{answer}"
