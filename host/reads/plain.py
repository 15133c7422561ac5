"""What a result showed of files when its producer does not say: by tool, command, path and text (pure)."""

import msgspec

from host.reads.claude_code import numbered_window
from host.reads.gemini import cut_window, gemini_output, gemini_shown
from host.reads.printings import printings, searched
from recall.contracts import EventPayload, PrintForm, Printing, ReadWindow
from recall.importing import MARKDOWN

_FENCES = ("<untrusted_context>", "Output: ")  # of Gemini CLI


def plain_shown(payload: EventPayload, command: str, folder: str) -> EventPayload:
    """The payload of a result, with `read` or `printed` as far as it tells; as it is when the producer said so itself.

    `command`: the arguments of the call, a shell's command line. `folder`: the session's workspace.
    """
    if payload.read is not None or payload.reads or payload.printed or payload.ok is False:
        return payload
    match payload.tool:
        case "shell" if command and payload.text.startswith(_FENCES):
            told = gemini_shown("run_shell_command", {"command": command}, payload.text, folder)
            return msgspec.structs.replace(payload, text=gemini_output(payload.text), **told) if told else payload
        case "shell" if command:
            return _with(payload, printed=printings(command, payload.text, folder))
        case "search":
            return _with(payload, printed=searched((), payload.text, (folder,)))
        case "read" if payload.path and payload.path.lower().endswith(MARKDOWN):
            window = cut_window(payload.path, payload.text) or numbered_window(payload.path, payload.text)
            piece = Printing(paths=(payload.path,), form=PrintForm.CHOSEN, bases=(folder,))
            return _with(payload, read=window) if window is not None else _with(payload, printed=(piece,))
    return payload


def _with(payload: EventPayload, read: ReadWindow | None = None, printed: tuple[Printing, ...] = ()) -> EventPayload:
    return msgspec.structs.replace(payload, read=read, printed=printed) if read or printed else payload
