"""Figures of an arm, and what is said of queries without an answer."""

from host.evaluation.results import Asked, Certainty, arm_figures, corpus_digest


def asked(kind: str = "fact", relevant: int | None = 1, found: tuple[int, ...] = (1,), sure: float = 0.5) -> Asked:
    wanted = frozenset() if relevant is None else frozenset({relevant})
    return Asked(type=kind, relevant=wanted, found=found, confidence=sure, micros=1500)


def test_an_arm_is_judged_over_the_queries_that_have_an_answer() -> None:
    figures = arm_figures("lexical", [asked(), asked(found=()), asked(relevant=None)])

    assert (figures.quality.queries, figures.quality.recall1) == (2, 0.5)
    assert (figures.latency.p50, figures.latency.p99) == (1.5, 1.5)


def test_each_type_has_its_own_figures() -> None:
    figures = arm_figures("lexical", [asked("b"), asked("a", found=()), asked("b")])

    assert {kind: (one.queries, one.recall1) for kind, one in figures.by_type.items()} == {"a": (1, 0.0), "b": (2, 1.0)}
    assert list(figures.by_type) == ["a", "b"]


def test_what_fell_short_is_counted_by_its_reason() -> None:
    late = Asked(type="", relevant=frozenset({1}), found=(), confidence=0, micros=1, shortfalls=("engine: late",))

    assert arm_figures("fusion", [late, asked(), late]).shortfalls == {"engine: late": 2}


def test_queries_without_an_answer_are_set_against_those_of_the_same_documents() -> None:
    certainty = Certainty()
    certainty.add("docs", "positive", "lexical", [asked(sure=0.9), asked(sure=0.4)])
    certainty.add(
        "docs", "negative", "lexical", [asked(relevant=None, sure=0.5), asked(relevant=None, found=(), sure=0)]
    )
    certainty.add("other", "apart", "lexical", [asked(sure=0.1)])

    (one,) = certainty.abstention()

    assert (one.sets, one.arm, one.queries, one.negatives) == (("positive", "negative"), "lexical", 2, 2)
    assert (one.answered, one.auc) == (0.5, 0.75)


def test_without_answerable_queries_there_is_nothing_to_set_against() -> None:
    certainty = Certainty()
    certainty.add("docs", "negative", "plain", [asked(relevant=None)])

    assert certainty.abstention()[0].auc is None


def test_a_corpus_is_known_by_its_texts_in_order() -> None:
    assert corpus_digest(["a", "b"]) == corpus_digest(iter(["a", "b"]))
    assert len({corpus_digest(texts) for texts in (["a", "b"], ["b", "a"], ["a\nb"], ["ab"], [])}) == 5
