"""What is promised of formation: each item of its acceptance, and what its issue asks."""

from tests.support.promise import Promise

FORMATION = (
    Promise(
        "formation-01",
        "formation.md 9, item 1",
        "A window takes up to twenty messages of user and assistant; tool messages do not count and are never sent.",
    ),
    Promise(
        "formation-02",
        "formation.md 9, item 2",
        "What does not fit the budget goes in whole messages, background first; nothing is cut silently.",
    ),
    Promise(
        "formation-03",
        "formation.md 9, item 3",
        "A malformed candidate costs nothing but itself, and no candidate beyond the eighth is taken.",
    ),
    Promise(
        "formation-04",
        "formation.md 9, item 4",
        "A quote is what was said, word for word; what is stored is the original slice.",
    ),
    Promise(
        "formation-05",
        "formation.md 9, item 5",
        "A quote that leaves out the negation, and a number that no quote holds, are refused.",
    ),
    Promise("formation-06", "formation.md 9, item 6", "A relative date is written as the date that it was."),
    Promise(
        "formation-07",
        "formation.md 9, item 7",
        "Extraction changes no note that was decided upon; a decision names the version and the digest it was made to.",
    ),
    Promise(
        "formation-08",
        "formation.md 9, item 8",
        "A note is bound to its evidence: changed evidence makes it stale, and only kept lessons are exported.",
    ),
    Promise(
        "formation-09",
        "formation.md 9, item 9",
        "A continuation holds only for what it was made for, and names the field that differs.",
    ),
    Promise(
        "formation-10",
        "formation.md 9, item 10",
        "An answer that holds nothing readable is a failure, never an empty one; whole elements of a cut one are kept.",
    ),
    Promise(
        "formation-11",
        "formation.md 9, item 11",
        "A driver makes one request a call, reports what the provider reported, and shows its key nowhere.",
    ),
    Promise(
        "formation-12",
        "formation.md 9, item 12",
        "With the running agent as the model no connection is opened, and its answer is judged like any other.",
    ),
    Promise(
        "formation-13",
        "formation.md 9, item 13",
        "Scenes, persona and skills change only as they were read, or not at all.",
    ),
    Promise(
        "formation-14",
        "formation.md 9, item 14",
        "The same boundary is formed once; only what the user wrote is evidence, and a subagent leaves no row.",
    ),
    Promise(
        "formation-15",
        "formation.md 9, item 15",
        "A fact of one conversation waits for a second one, and only a gap that was shown and fits is covered.",
    ),
    Promise(
        "formation-16",
        "formation.md 9, item 16",
        "What the user asks to be remembered needs no second conversation; an agent's claim of it must be quoted.",
    ),
    Promise(
        "formation-17",
        "formation.md 9, item 17",
        "A range is given up only after two failures of its own; an outage of the provider discards nothing.",
    ),
    Promise(
        "formation-18",
        "formation.md 9, item 18",
        "A commit is there wholly or not at all, wherever it is killed, and once.",
    ),
    Promise("formation-19", "formation.md 9, item 19", "What was done incognito is never read later."),
    Promise(
        "formation-20",
        "formation.md 9, item 20",
        "A hook that ends a session is answered at once, and what it began is finished by the daemon.",
    ),
    Promise(
        "formation-21",
        "formation.md 9, item 21",
        "What was injected or written by a machine becomes no memory, however often.",
    ),
    Promise(
        "formation-22",
        "formation.md 9, item 22",
        "Batch extraction reads every message that qualifies, and stores rather than loses when help is missing.",
    ),
    Promise(
        "formation-23",
        "formation.md 9, item 23",
        "Nothing of one isolation key is seen, changed or superseded from another; an unset key matches nothing.",
    ),
    Promise(
        "formation-24",
        "formation.md 9, item 24",
        "What differs in a number, an identifier or a negation is never merged; the same in other spelling is.",
    ),
    Promise(
        "formation-25", "formation.md 9, item 25", "A machine does not rewrite what a person made or kept: it proposes."
    ),
    Promise(
        "formation-26",
        "formation.md 9, item 26",
        "What reads like an order is stored for review and handed to nobody before a person clears it.",
    ),
    Promise(
        "formation-27",
        "formation.md 9, item 27",
        "What was said no to is not proposed again; what was forgotten comes back only by a newer word of the user.",
    ),
    Promise(
        "formation-28",
        "formation.md 9, item 28",
        "What was formed says of what, by which prompt and by which model; no prompt and no secret is kept.",
    ),
    Promise(
        "formation-29",
        "formation.md 9, item 29",
        "What was formed is made again from its lines, and a folder that is away archives nothing.",
    ),
    Promise(
        "formation-covers",
        "issue 7, point 2",
        "Each message that a user wrote is taken once, and no injected or machine-written text is shown to a model.",
    ),
    Promise(
        "formation-kills",
        "issue 7, point 3",
        "Killed at any named point, each commit is wholly there or wholly absent; no committed range is asked again.",
    ),
    Promise(
        "reviewed-stays",
        "issue 7, point 4",
        "Extraction run again over a reviewed store changes no byte of a note that was kept, edited or archived.",
    ),
    Promise(
        "formation-end-to-end",
        "formation.md 9, end to end",
        "What two sessions said is committed, found, kept at a terminal, and tells where it comes from.",
    ),
    Promise(
        "formation-loop",
        "issue 7, point 7",
        "The running agent notes a checkpoint that waits; a person keeps a note; the next session is given it.",
    ),
)
