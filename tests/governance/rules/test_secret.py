"""No secret is shown, whatever door it came in by."""

from governance.rules.secret import secret
from tests.support.audience import an_audience
from tests.support.builders import a_candidate
from tests.support.clock import START

VALUE = "zq!42" + "xYw9"


def test_a_secret_in_text_or_title_is_named_and_never_said() -> None:
    for candidate in (a_candidate(f"DB_PASSWORD={VALUE}"), a_candidate("How to log in", title=f"password: {VALUE}")):
        objection = secret(candidate, an_audience(), START)
        assert objection == "it holds secret.assignment"


def test_an_address_is_no_reason_to_be_silent() -> None:
    candidate = a_candidate("Ask zhang.san@corp.example before a release.", title="Owner")
    assert secret(candidate, an_audience(), START) is None
