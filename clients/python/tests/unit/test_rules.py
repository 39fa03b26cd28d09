"""Rules that need no API."""

from __future__ import annotations

import pickle
from datetime import datetime, timedelta, timezone
from decimal import Decimal
from email.utils import format_datetime
from typing import Any

import pytest

import steward
from steward._internal import rules
from steward._amounts import amount_text
from steward.errors import ConnectionError, StewardError


def _answered(status: int, headers: dict[str, str] | None = None) -> StewardError:
    return rules.error_of(rules.Answer(status, headers or {}, b"{}"))


def test_what_may_pass_is_tried_again_and_nothing_else() -> None:
    passing = [status for status in range(300, 600) if rules.may_pass(_answered(status))]
    assert passing == [408, 429, *range(500, 600)]
    assert rules.may_pass(ConnectionError("lost"))
    assert not rules.may_pass(OSError("a caller's own"))


def test_retry_after_wins_up_to_a_minute() -> None:
    assert rules.delay_after(_answered(429, {"retry-after": "17"}), 1) == 17
    assert rules.delay_after(_answered(503, {"retry-after": "0"}), 5) == 0
    assert rules.delay_after(_answered(429, {"retry-after": "61"}), 1) is None
    soon = datetime.now(timezone.utc) + timedelta(seconds=30)
    delay = rules.delay_after(_answered(503, {"retry-after": format_datetime(soon)}), 1)
    assert delay is not None and 0 < delay <= 30


@pytest.mark.parametrize("text", ["", "soon", "-1", "\u0663", "1e9"])
def test_a_retry_after_that_says_nothing_leaves_it_to_jitter(text: str) -> None:
    delay = rules.delay_after(_answered(503, {"retry-after": text}), 1)
    assert delay is not None and 0 <= delay <= rules.FIRST_DELAY_S


def test_jitter_is_full_grows_and_has_an_end() -> None:
    for failures, most in [(1, 0.5), (2, 1), (4, 4), (5, 8), (6, 8), (10_000, 8)]:
        delays = [rules.jitter(failures) for _ in range(400)]
        assert max(delays) <= most
        assert min(delays) < most / 4 and max(delays) > most * 3 / 4


@pytest.mark.parametrize(
    ("amount", "text"),
    [
        (12, "12"),
        ("max", "max"),
        (0.1, "0.1"),
        (1e-7, "0.0000001"),
        (1e22, "10000000000000000000000"),
        (Decimal("1E-6"), "0.000001"),
        (Decimal("123456789012345678901234567890.123456"), "123456789012345678901234567890.123456"),
        (10**30, "1" + "0" * 30),
    ],
)
def test_an_amount_is_written_digit_by_digit(amount: steward.Amount, text: str) -> None:
    assert amount_text(amount) == text


@pytest.mark.parametrize("amount", [float("nan"), float("inf"), Decimal("NaN"), Decimal("-Infinity")])
def test_an_amount_that_is_no_number_is_refused(amount: steward.Amount) -> None:
    with pytest.raises(ValueError, match="finite"):
        amount_text(amount)


@pytest.mark.parametrize("amount", [True, None, [1], 1j])
def test_an_amount_that_is_nothing_of_the_kind_is_refused(amount: Any) -> None:
    with pytest.raises(TypeError, match="amount must be"):
        amount_text(amount)


def test_key_and_address_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("STEWARD_API_KEY", "STEWARD_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(ValueError, match="STEWARD_API_KEY"):
        steward.Steward()
    monkeypatch.setenv("STEWARD_API_KEY", "svc_sk_1")
    with pytest.raises(ValueError, match="STEWARD_BASE_URL"):
        steward.AsyncSteward()
    monkeypatch.setenv("STEWARD_BASE_URL", "http://127.0.0.1:1/v1/")
    with steward.Steward():
        pass


@pytest.mark.parametrize(
    "url", ["https://api.example.com", "https://api.example.com/", "https://api.example.com/v1/"]
)
def test_an_address_is_the_same_with_and_without_its_version(url: str) -> None:
    settings = rules.to_settings("svc_sk_1", url, 60, 2)
    assert settings.origin == "https://api.example.com"
    assert "svc_sk_1" not in repr(settings)


def test_what_no_key_or_address_can_be_is_refused_without_saying_it() -> None:
    for key in ("svc_sk_1\r\nX: 1", "svc sk", "svc_sk_é"):
        with pytest.raises(ValueError) as refused:
            steward.Steward(key, "https://api.example.com")
        assert key not in str(refused.value)
    with pytest.raises(ValueError, match="https://"):
        steward.Steward("svc_sk_1", "api.example.com")


def test_errors_go_to_another_process_and_come_back() -> None:
    details = {"requestId": "req_1", "reason": "no_liquidity", "required": "2", "available": "1.5"}
    error = steward.InsufficientFundsError("short", status=400, details=details, retry_after=3)
    back = pickle.loads(pickle.dumps(error))
    assert isinstance(back, steward.InsufficientFundsError)
    assert (back.required, back.available) == (Decimal(2), Decimal("1.5"))
    assert (back.__dict__, str(back)) == (error.__dict__, str(error))
    assert back.reason == "no_liquidity"


def test_a_lost_connection_is_one_of_python_too() -> None:
    assert issubclass(steward.ConnectionError, OSError)
    assert issubclass(steward.TimeoutError, TimeoutError)
