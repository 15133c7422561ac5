"""Models by name, what of a record is embedded, and how a vector becomes one byte a dimension."""

import numpy as np
import pytest

from recall.frames import ASKED
from recall.vectors.encoder import ENCODERS, Identity, load, quantised, words
from tests.support.encoders import Tiny


@pytest.mark.parametrize("name", ENCODERS)
def test_a_model_makes_vectors_of_length_one_in_its_dimension(name: str) -> None:
    encoder = load(name)

    vectors = encoder.encode(["The staging database is reset every night.", "测试数据库每天夜里重置。", "", "👍"])

    assert vectors.shape == (4, encoder.identity.dimension) and vectors.dtype == np.float32
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-3)
    assert vectors[0] @ vectors[1] > 0.6  # the same in another language
    assert abs(float(vectors[0] @ vectors[3])) < 0.4


def test_a_model_of_ones_own_is_named_by_module_and_attribute() -> None:
    assert isinstance(load("tests.support.encoders:Tiny"), Tiny)


@pytest.mark.parametrize("name", ["nonesuch", "tests.support.encoders:Nonesuch", ""])
def test_a_model_that_is_not_there_is_an_error(name: str) -> None:
    with pytest.raises((ImportError, AttributeError, ValueError)):
        load(name)


def test_an_identity_is_said_with_its_dimension() -> None:
    assert str(Identity(name="tiny", version="1", dimension=256)) == "tiny 1 (dimension 256)"


@pytest.mark.parametrize(
    ("title", "text", "expected"),
    [(None, "a", "a"), ("T", "a", "T\na"), ("", "a", "a"), ("T", "x" * 999, "T\n" + "x" * (ASKED - 2))],
)
def test_title_and_text_are_embedded_up_to_the_cut(title: str | None, text: str, expected: str) -> None:
    assert words(title, text) == expected


def test_codes_times_scale_are_the_vector() -> None:
    vectors = Tiny().encode(["build the cache", "deploy"])

    codes, scales = quantised(vectors)

    assert codes.dtype == np.int8 and np.abs(codes).max() == 127
    assert np.allclose(codes * scales[:, None], vectors, atol=float(scales.max()))


def test_what_is_no_number_is_nothing() -> None:
    codes, scales = quantised(np.array([[np.nan, np.inf], [0, 0]], np.float32))

    assert not codes.any() and not scales.any()
