"""What the command line reads of the daemon's answers is what the daemon says."""

import msgspec
import pytest

from host import adding, beside, reviewing
from host.cli import review_answers


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        (beside.Beside, review_answers.Beside),
        (beside.PutAway, review_answers.PutAway),
        (beside.Others, review_answers.Others),
        (reviewing.Reviewed, review_answers.Reviewed),
        (reviewing.ReviewPage, review_answers.ReviewPage),
        (reviewing.Decided, review_answers.Decided),
        (adding.Added, review_answers.Added),
    ],
)
def test_the_same_names(theirs: type[msgspec.Struct], ours: type[msgspec.Struct]) -> None:
    assert set(ours.__struct_encode_fields__) == set(theirs.__struct_encode_fields__)
