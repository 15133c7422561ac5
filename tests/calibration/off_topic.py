"""How often the gate speaks to prompts that have nothing to do with the store, at several sizes of store.

    python -m tests.calibration.off_topic DATA [--show]

DATA: the folder of all sets; `proactive`, `agentmem`, `proactivemem`, `cosqa` and `cmrc2018` below it are used. The
prompts are ours. Each is asked of a fresh session, so nothing is known but the prompt and the store.
"""

import argparse
import gzip
import json
import random
from collections.abc import Iterable
from pathlib import Path

from host.cue import build_cue
from host.observer import observe
from recall.analyzer import distinct
from recall.background import load_background
from recall.confidence import Bar, ConfidencePolicy, confident, tally
from recall.contracts import Candidate, Noise, Scored, Shown
from recall.rank import RankPolicy, rank
from tests.calibration.lexicon import Lexicon
from tests.support.builders import a_candidate, a_memory_id, a_prompt, a_window
from tests.support.clock import START

PROMPTS = """
Write a haiku about autumn rain|What is the capital of Mongolia?|Translate this sentence into French please
Plan a birthday party for twelve children|How long should I boil an egg?|Explain the rules of cricket
Summarise the plot of Hamlet|Give me a recipe for lentil soup|Which planets have rings?
Draft a letter to my landlord about the heating|What year did the Berlin wall fall?|Suggest names for a grey kitten
How do I get red wine out of a carpet?|Convert 12 miles to kilometres|Who painted the night watch?
Make a workout plan for beginners|Is it safe to eat raw salmon?|How tall is Mount Kilimanjaro?
Tell me a joke about penguins|What should I pack for a week in Iceland?|Compare diesel and petrol engines
Write a poem for my grandmother|How do vaccines work?|Explain inflation to a teenager
What does the bassoon sound like?|Center the div in the hero section|Add dark mode to the settings page
Rename the variable foo to bar everywhere|Why is my for loop off by one?|Refactor this function to be shorter
Write unit tests for the date parser|Implement binary search in Rust|Explain what a monad is
Add a loading spinner to the checkout button|Fix the typo in the readme|Upgrade React to version 19
Generate a random password of 20 characters|Sort the table by the second column|How do I reverse a linked list?
Make the sidebar collapsible|Create a migration that adds a phone column|Draw the class diagram of the billing module
Why does the sum come out as NaN?|Set up a cron job that runs at midnight|Add pagination to the orders list
Replace moment with date-fns|Please review my last commit|Can you speed up this SQL query?
Bump the version and tag a release|Show me the ten largest files|写一首关于春天的诗|今天天气怎么样？
帮我把这段话翻译成英文|怎么做番茄炒蛋？|推荐几本科幻小说|给登录页面加一个按钮|这个函数为什么返回空值？
把变量名改成驼峰|解释一下什么是递归|写一个冒泡排序
"""
SETS = (("agentmem", "agentmem"), ("proactivemem", "proactivemem"), ("cosqa", "cosqa"), ("cmrc2018", "cmrc2018"))


def texts_of(folder: Path) -> list[list[str]]:
    """Texts of the sets, each set apart: coding notes first, then chat, code and encyclopaedia."""
    notes: dict[str, None] = {}
    for path in sorted((folder / "proactive").glob("*/memories.jsonl")):
        notes.update({json.loads(line)["text"]: None for line in path.read_text(encoding="utf-8").splitlines()})
    found = [list(notes)]
    for name, file in SETS:
        with gzip.open(folder / name / f"{file}.json.gz") as data:
            found.append([text for space in json.load(data)["namespaces"] for _, text in space["docs"]])
    return found


def ask(store: Lexicon, prompt: str, bar: Bar) -> Scored | None:
    """What the gate gives for a prompt that opens a session."""
    segment = observe(a_prompt(prompt), 1)
    assert segment is not None
    counts: dict[str, int] = {}
    noise = Noise(counts=counts, total=tally(counts, distinct(segment.text)), agree={})
    cue = build_cue(segment, a_window())
    ranked = rank(store.match(cue.terms), Shown(), RankPolicy(), START)
    return next(iter(confident(ranked, cue, noise, store.statistics(cue.terms), bar).ranked), None)


def records(texts: Iterable[str]) -> list[Candidate]:
    return [a_candidate(text, memory_id=a_memory_id(number)) for number, text in enumerate(texts)]


def main() -> None:
    parser = argparse.ArgumentParser(description="Ask prompts that have nothing to do with the store.")
    parser.add_argument("data", type=Path)
    parser.add_argument("--show", action="store_true")
    options = parser.parse_args()
    prompts = [prompt for prompt in PROMPTS.replace("\n", "|").split("|") if prompt]
    pool: list[str] = []
    bar, chance = Bar(ConfidencePolicy(), load_background()), random.Random(1)
    sizes = {0: (50, 300), 1: (350,), 2: (1000,), 4: (3000, 8000)}
    for place, texts in enumerate(texts_of(options.data)):
        pool += texts
        for size in sizes.get(place, ()):
            store = Lexicon(records(chance.sample(pool, min(size, len(pool)))))
            given = [(prompt, found) for prompt in prompts if (found := ask(store, prompt, bar))]
            print(f"{size:6} records: {len(given)} of {len(prompts)} prompts got one")
            for prompt, found in given if options.show else []:
                print("      ", prompt, "|", found.reasons[-1], round(found.score, 1), found.candidate.payload[:70])


if __name__ == "__main__":
    main()
