"""Everything we promise, as data. A test that proves one carries `@pytest.mark.promise("id")`.

The invariants come first; docs/explanation/architecture.md states them and names the modules that keep them.
`source` says where the promise was made: an invariant, or a point of an issue's must-hold list.
"""

from tests.support.promise import Promise
from tests.support.promised_formation import FORMATION
from tests.support.promised_team import TEAM

INVARIANTS = (
    Promise(
        "no-leak",
        "invariant 1",
        "Nothing of one session appears in another, except records whose scope admits it; never another workspace's.",
    ),
    Promise(
        "preview-names",
        "invariant 2",
        "Everything registered or stored outside the process carries -pre or _pre, from one function and one constant.",
    ),
    Promise(
        "identity",
        "invariant 3",
        "A memory keeps its id through edits and moves; version and digest validate, line numbers do not.",
    ),
    Promise("read-is-no-citation", "invariant 4", "Opening or reading is not citing; coverage 0 forms no evidence."),
    Promise(
        "sent-is-final",
        "invariant 5",
        "A request that was sent is never changed: a packet enters the next one or none, and the host re-checks it.",
    ),
    Promise(
        "stale-is-dropped",
        "invariant 6",
        "Expired packets and packets of another context version are dropped, never delivered, and leave no seen.",
    ),
    Promise(
        "reference-only",
        "invariant 7",
        "Memory is reference, not instruction: it never poses as one and cannot close its own frame.",
    ),
    Promise(
        "nothing-executed",
        "invariant 8",
        "A procedure that is not validated is never executed, high-risk ones need approval; we execute nothing.",
    ),
    Promise("append-only", "invariant 9", "Retrieval leaves no trace in the main session; the event log only grows."),
    Promise(
        "silence-has-a-reason",
        "invariant 10",
        "Silence is the default and always has a reason; a fault, doubt or lateness never breaks the agent's turn.",
    ),
    Promise(
        "audit-first",
        "invariant 11",
        "Nothing unrecorded is delivered: the audit entry is committed before the packet can be claimed.",
    ),
    Promise(
        "deterministic",
        "invariant 12",
        "Same events, index, policy, clock and ids give the same decisions, byte for byte.",
    ),
    Promise(
        "acknowledged-is-kept",
        "invariant 13",
        "An acknowledged event or audit entry is never lost, whatever is killed, full or locked.",
    ),
    Promise("git-untouched", "invariant 14", "We never stage, commit or push in the user's git repository."),
)

MAIN_JOB = (
    Promise(
        "demo-delivers-gold",
        "issue 2, point 1",
        "The demo delivers in a gold window of its recorded session's labels, delivers nothing on its never list, "
        "and leaves nothing behind.",
    ),
    Promise(
        "client-next-request",
        "issue 2, point 2",
        "A real Claude Code has the memory text not before, exactly once in the next and in every later request, "
        "and never in its system prompt.",
    ),
    Promise(
        "client-compaction",
        "issue 2, point 2",
        "After a compaction of the real client the memory text comes once more at most.",
    ),
    Promise(
        "client-without-daemon",
        "issue 2, point 2",
        "With the daemon killed in mid-run the real client ends its run normally and unaffected.",
    ),
    Promise(
        "replay-equals-live",
        "issue 2, point 3",
        "A file replayed twice, and its envelopes sent live through the socket, give the same decision digests.",
    ),
    Promise(
        "canaries-stay-home",
        "issue 2, point 4",
        "No canary word of one workspace's session or memory is in a reply, packet, audit row, log line or evidence "
        "row of another, at any interleaving of twenty sessions.",
    ),
    Promise(
        "packet-wrong-context", "issue 2, point 5", "A packet of another context version ends as the claim ladder says."
    ),
    Promise("packet-expired", "issue 2, point 5", "An expired packet is never handed over."),
    Promise(
        "packet-stale-index",
        "issue 2, point 5",
        "A packet whose record changed, was forgotten or left the index is dropped at the claim.",
    ),
    Promise("packet-digest", "issue 2, point 5", "A packet whose rendering no longer matches its digest is dropped."),
    Promise("packet-duplicate-claim", "issue 2, point 5", "A claim repeated with its request id gets the same packet."),
    Promise(
        "packet-dead-holder",
        "issue 2, point 5",
        "The late acknowledgement of a holder whose lease ran out settles nothing.",
    ),
    Promise("packet-released", "issue 2, point 5", "A released claim can be claimed again."),
    Promise(
        "packet-carried-over",
        "issue 2, point 5",
        "A packet overtaken by a reply or by parallel tool results is re-checked and carried over, one step at most.",
    ),
    Promise("seen-only-delivered", "issue 2, point 5", "Only delivered packets leave seen evidence."),
    Promise(
        "kill-nine",
        "issue 2, point 6",
        "Killed fifty times at random points: no acknowledged event lost, no packet delivered twice, no delivery "
        "without its audit entry, restart under a second.",
    ),
    Promise(
        "gate-suppresses",
        "issue 2, point 7",
        "Acknowledgements, empty and machine-written input and subagents' prompts are silences with the right "
        "reason and no index I/O.",
    ),
    Promise(
        "gate-retrieves",
        "issue 2, point 7",
        "A failure, a repeated failure, a recall question, a correction and a new task are passes that retrieve.",
    ),
    Promise(
        "bad-input",
        "issue 2, point 8",
        "Bad input gets a clear error or a closed connection; the next client is served and nothing acknowledged lost.",
    ),
    Promise("benches-exist", "issue 2, point 9", "Every figure that is promised has a program that measures it."),
    Promise("field-cases", "issue 2, point 10", "Each reported fault whose kind is built is a test."),
)

MEMORY = (
    Promise(
        "engine-faults",
        "issue 3, point 5",
        "Killed, hanging, talking nonsense or with another model: the engine costs its own answer, and says so.",
    ),
    Promise(
        "in-context",
        "issue 3, deliverable 1",
        "What an agent's product loads into every context is found by a search and never handed over to its sessions.",
    ),
    Promise(
        "any-query",
        "issue 3, point 3",
        "Any query in any language gets right or empty answers, never an error and never everything.",
    ),
    Promise(
        "files-under-load",
        "issue 3, point 4",
        "Editors, git, agents and searches at once: no lost record, no stale locator, no duplicate, and one version of "
        "the index for each content.",
    ),
    Promise(
        "files-survive-kills",
        "issue 3, point 4",
        "Killed at any step of a document transaction: the file is old or new, whole, and the next start finds it so.",
    ),
    Promise(
        "broken-index",
        "issue 3, point 6",
        "A broken, locked, full or missing index is answered for honestly, loses no record and heals by itself.",
    ),
    Promise("many-at-once", "issue 3, point 7", "Writers and readers at once meet no lock and lose no write."),
    Promise(
        "bounded-roots",
        "issue 3, deliverable 1",
        "Adopting any folder ends, reports what it did not use, and touches nothing outside of it.",
    ),
)

DECISION = (
    Promise(
        "decisions-repeat",
        "issue 4, deliverable 1",
        "The same labelled sessions give the same predictions to the byte, in however many processes, whatever the "
        "order of their memories.",
    ),
    Promise(
        "nothing-of-the-future",
        "issue 4, point 4",
        "Nothing is read from after the decided event: with all later events poisoned or gone the predictions stay "
        "byte-equal.",
    ),
)

GOVERNANCE = (
    Promise(
        "no-secret-kept",
        "issue 5, point 1",
        "Not one secret value that came in by any door is in a file, a log, an error, a metric or a reply.",
    ),
    Promise(
        "secrets-found",
        "issue 5, point 1",
        "Of the fixtures' secrets at least .95 are found, and at most 2 of 44 hard negatives are taken for one.",
    ),
    Promise(
        "poison-stays-outside",
        "issue 5, point 1",
        "No text of a poisoning, delimiter, Unicode or terminal fixture is in a packet or a memory file without a "
        "person's decision; and 60 legitimate orders in English and 60 in Chinese pass, at most 2 of them flagged.",
    ),
    Promise(
        "one-frame",
        "issue 5, point 3",
        "A packet's frame survives 5 000 hostile bodies: parsed back it is one frame with the bodies that were put in.",
    ),
    Promise(
        "screen-is-linear",
        "issue 5, point 2",
        "No text that is built to be slow takes the screen much longer than a plain one of its size, and none that is "
        "large is read on the loop.",
    ),
    Promise(
        "coverage-exact",
        "issue 5, point 4",
        "Of a real read result the covered bytes are exact; once the file was edited it is stale and proves nothing.",
    ),
    Promise(
        "chain-tampering",
        "issue 5, point 5",
        "An entry of the audit that was removed, changed, swapped or put in is named, and the chain stays whole when "
        "old entries are let go.",
    ),
    Promise(
        "metrics-rebuilt",
        "issue 5, point 7",
        "After ten thousand entries with kills and retention in between, checkpoint and rest give the numbers that "
        "were counted live.",
    ),
    Promise(
        "evidence-rebuilt",
        "issue 5, point 7",
        "The graph and its numbers are a fold over the audit: checkpoint and rest give the rows and numbers of the "
        "live ones, whatever was let go and however often it was killed.",
    ),
    Promise(
        "evidence-rules",
        "issue 5, deliverable 4",
        "What counts as cited, reused, a success or corrected is stated, and each rule says no in doubt, in English "
        "and in Chinese: what is restated, everyday or known already is no reuse, an order to the agent no correction.",
    ),
    Promise(
        "audit-recipe",
        "issue 5, deliverable 3",
        "Anyone can check the chain with the twenty lines that the documents show.",
    ),
    Promise(
        "only-a-person-decides",
        "issue 5, deliverable 1",
        "What the screen kept back, and what evidence proposes, is kept or put away only by a person at a terminal.",
    ),
    Promise(
        "procedures-rise-by-evidence",
        "issue 5, point 6",
        "A procedure with evidence from two sessions does not rise; the third with success does, as a proposal.",
    ),
    Promise("correction-blocks", "issue 5, point 6", "One correction blocks every rise until a person settled it."),
    Promise(
        "high-risk-waits", "issue 5, point 6", "A procedure that can do harm waits for approval after it was kept."
    ),
    Promise(
        "episode-told",
        "issue 5, deliverable 5",
        "The last time that this error, file or command came up is told with its outcome, to other sessions of that "
        "workspace alone, and holds the user's words, acts and error classes, never what a tool printed.",
    ),
    Promise(
        "conflicts-as-such",
        "issue 5, deliverable 5",
        "Two statements of the same that differ are shown as a conflict or not at all, and what was inferred never "
        "stands against what was said.",
    ),
    Promise(
        "forgotten-everywhere",
        "issue 5, deliverable 6",
        "What was forgotten stands in nothing that is kept: no file, table, log, queue, export or backup of ours.",
    ),
    Promise(
        "said-no-once",
        "issue 5, the queue",
        "What a person archived or had forgotten is not proposed again in the same words.",
    ),
    Promise(
        "correction-at-once",
        "issue 5, deliverable 6",
        "Once somebody said that a memory is wrong, no pass, claim or search gives it, in no session, until a person "
        "keeps it; packets that wait with it are gone.",
    ),
    Promise(
        "correction-path",
        "issue 5, point 8",
        "From the packet over the audit and the feedback to the story of the memory: the page that shows it is run.",
    ),
    Promise(
        "evidence-raises",
        "issue 5",
        "What agents used with success is shown in more words and comes first; one correction takes that back.",
    ),
    Promise(
        "asked-before-shown",
        "issue 5, deliverable 1",
        "A high-risk procedure is a question to its user first, and shown only as they approved it.",
    ),
    Promise(
        "adversarial-scenarios",
        "issue 5, point 1",
        "The scope and delivery scenarios of the adversarial fixtures end as they say, through the whole host.",
    ),
)

HOSTS = (
    Promise(
        "project-identity",
        "issue 6, point 6",
        "A project's memory is found from every worktree, subfolder and link of it, and where it was moved to; a "
        "project that only looks like it is told nothing.",
    ),
    Promise(
        "mcp-clean",
        "issue 6, point 4",
        "Not one byte on the MCP server's standard output that is not protocol; it ends with its client and leaves "
        "nothing behind.",
    ),
    Promise(
        "agents-propose",
        "issue 6, deliver 5",
        "Over MCP an agent reads what could be handed to it; what it keeps is no person's word, and what it would "
        "change or have forgotten waits for a person.",
    ),
    Promise(
        "settings-untouched",
        "issue 6, point 5",
        "init keeps every foreign byte of a settings file, comments, order, line ends, links and permissions too; "
        "--remove brings the file back as it was.",
    ),
    Promise(
        "history-is-history",
        "issue 6, deliver 10",
        "A past session is stored once, whatever stops its import; nothing is decided about it, and nothing handed "
        "over for it.",
    ),
    Promise(
        "context-maintained",
        "issue 6, point 7",
        "What is kept in view is told once; unchanged it is not told again, changed it is replaced by one message, "
        "emptied it is cleared by one; a restart or a compaction in between repeats nothing and loses nothing.",
    ),
    Promise(
        "unknown-version",
        "issue 6, point 7",
        "A product whose version the table of hosts does not have is watched only; audit, status and doctor say so, "
        "and its user can allow it.",
    ),
    Promise(
        "doctor-finds",
        "issue 6, deliver 6",
        "doctor finds each broken state that it names, says what, why and what to do, changes nothing and shows no "
        "secret.",
    ),
)

PROMISES = (*INVARIANTS, *MAIN_JOB, *MEMORY, *DECISION, *GOVERNANCE, *HOSTS, *FORMATION, *TEAM)
