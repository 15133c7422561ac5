"""What is promised of the team workflow: each item of its acceptance, and what its issue asks."""

from tests.support.promise import Promise

_ITEMS = (
    "The same loop over MCP and over the command line gives equal documents, states and file bytes; only files of the "
    "memory root change, and nothing is staged or committed.",
    "An operation without one of its adapters, or an adapter without an operation, is found.",
    "Recall gives the whole bounded transcript of hard-sealed, active turns of eligible sessions, and nothing else.",
    "Too many turns are refused and not cut; a window that is none is refused.",
    "A chunk holds whole turns; speech is never cut, and it is said where tool payloads are excerpted; the transcript "
    "cannot be forged, and tells no strength, session id or absolute path.",
    "The same material is the same task, whatever else is there; changed material is another; what was extracted is "
    "not offered again.",
    "One bad draft costs only itself; content is covered by its statements; an empty batch closes its chunk.",
    "A draft that is sent again is one draft; another under the same task is refused; a lease is one holder's.",
    "Chinese texts are compared, and two of them are two files.",
    "A draft that is skipped is covered by what covers it; a changed pool changes nothing.",
    "An update deprecates what it replaces, in the same plan.",
    "A merge has statements of its own, with the citations of its parts.",
    "What was reviewed is what is approved: any difference is refused, and nothing is confirmed then.",
    "A plan without an approval is promoted only by its digest.",
    "A target that was edited or replaced since is left as it is, and so is what a link leads to.",
    "A promotion that is killed anywhere is wholly there or wholly absent after the restart.",
    "A full disk, a failing disk or a folder that cannot be written leaves every target as it was.",
    "What a stranger wrote meanwhile survives, and what it took the place of is kept aside.",
    "Two promotions at once write once, and two plans are both there.",
    "What is cited must still be there, and what the screen finds by now is not written.",
    "A promoted entry says when and by which commits and paths, and nothing private.",
    "Heat and the number of scenes are ours, and counted as tabled.",
    "An empty patch is an answer, and remembered as one.",
    "Assembling twice changes nothing more; what is not as we left it is not touched.",
    "Documents up to 4 MiB pass on both transports, and no byte more.",
    "What a stranger's repository says is at most a hint, until its user trusts it; what is flagged is nowhere.",
    "An entry whose front matter is not as it must be is reported, out of recall, and never rewritten.",
    "What is hidden in a candidate is shown in its review.",
    "One broken item does not keep the others from review.",
    "The unattended run is off by default, and ends at staged.",
)

TEAM = (
    *(Promise(f"team-{number:02}", f"team.md 15, item {number}", text) for number, text in enumerate(_ITEMS, 1)),
    Promise(
        "team-clients",
        "issue 8, point 2",
        "The real Claude Code and the real Codex run the whole loop over MCP, with the same bytes as our command line.",
    ),
    Promise(
        "team-hostile",
        "issue 8, point 5",
        "A hostile repository is refused or reported, and nothing outside of the memory root is touched.",
    ),
    Promise(
        "team-injectable",
        "issue 8, point 7",
        "A promoted record is given by the next pass, in all worktrees, and leaves recall with the branch that has it.",
    ),
)
