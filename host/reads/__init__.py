"""N-08: a tool's result, and which bytes of which files it showed (pure).

What a host says about its read tool becomes a `ReadWindow`. What a command printed becomes a `Printing`: its command
line is understood (`shell`, `programs`), and its output is compared with the files (`shown`).
"""

from host.reads.claude_code import claude_code_preview, claude_code_read, claude_code_shown
from host.reads.codex import codex_shown
from host.reads.gemini import gemini_failed, gemini_output, gemini_shown
from host.reads.opencode import opencode_shown
from host.reads.plain import plain_shown
from host.reads.windows import window_bytes

__all__ = [
    "claude_code_preview",
    "claude_code_read",
    "claude_code_shown",
    "codex_shown",
    "gemini_failed",
    "gemini_output",
    "gemini_shown",
    "opencode_shown",
    "plain_shown",
    "window_bytes",
]
