"""Pure rules of the clients."""

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


def _error_with(status: int, headers: dict[str, str] | None = None) -> StewardError:
    return rules.error_of(rules.Answer(status, headers or {}, b"{}"))


def test_only_temporary_errors_are_retried() -> None:
    passing = [status for status in range(300, 600) if rules.may_pass(_error_with(status))]
    assert passing == [408, 429, *range(500, 600)]
    assert rules.may_pass(ConnectionError("lost"))
    assert not rules.may_pass(OSError("a caller's own"))


def test_retry_after_wins_up_to_one_minute() -> None:
    assert rules.delay_after(_error_with(429, {"retry-after": "17"}), 1) == 17
    assert rules.delay_after(_error_with(503, {"retry-after": "0"}), 5) == 0
    assert rules.delay_after(_error_with(429, {"retry-after": "61"}), 1) is None
    soon = datetime.now(timezone.utc) + timedelta(seconds=30)
    delay = rules.delay_after(_error_with(503, {"retry-after": format_datetime(soon)}), 1)
    assert delay is not None and 0 < delay <= 30


@pytest.mark.parametrize("text", ["", "soon", "-1", "\u0663", "1e9"])
def test_an_invalid_retry_after_is_replaced_by_jitter(text: str) -> None:
    delay = rules.delay_after(_error_with(503, {"retry-after": text}), 1)
    assert delay is not None and 0 <= delay <= rules.FIRST_DELAY_S


def test_jitter_is_full_and_its_limit_grows_to_a_maximum() -> None:
    for failures, limit in [(1, 0.5), (2, 1), (4, 4), (5, 8), (6, 8), (10_000, 8)]:
        delays = [rules.jitter(failures) for _ in range(400)]
        assert max(delays) <= limit
        assert min(delays) < limit / 4 and max(delays) > limit * 3 / 4


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
def test_an_amount_is_formatted_with_every_digit(amount: steward.Amount, text: str) -> None:
    assert amount_text(amount) == text


@pytest.mark.parametrize("amount", [float("nan"), float("inf"), Decimal("NaN"), Decimal("-Infinity")])
def test_a_nonfinite_amount_is_rejected(amount: steward.Amount) -> None:
    with pytest.raises(ValueError, match="finite"):
        amount_text(amount)


@pytest.mark.parametrize("amount", [True, None, [1], 1j])
def test_an_amount_of_another_type_is_rejected(amount: Any) -> None:
    with pytest.raises(TypeError, match="amount must be"):
        amount_text(amount)


def test_the_environment_provides_key_and_address(monkeypatch: pytest.MonkeyPatch) -> None:
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
def test_an_address_with_or_without_its_version_is_the_same(url: str) -> None:
    settings = rules.to_settings("svc_sk_1", url, 60, 2)
    assert settings.origin == "https://api.example.com"
    assert "svc_sk_1" not in repr(settings)


def test_the_error_of_a_malformed_key_does_not_contain_the_key() -> None:
    for key in ("svc_sk_1\r\nX: 1", "svc sk", "svc_sk_é"):
        with pytest.raises(ValueError) as rejected:
            steward.Steward(key, "https://api.example.com")
        assert key not in str(rejected.value)
    with pytest.raises(ValueError, match="https://"):
        steward.Steward("svc_sk_1", "api.example.com")


def test_errors_survive_pickling() -> None:
    details = {"requestId": "req_1", "reason": "no_liquidity", "required": "2", "available": "1.5"}
    error = steward.InsufficientFundsError("short", status=400, details=details, retry_after=3)
    back = pickle.loads(pickle.dumps(error))
    assert isinstance(back, steward.InsufficientFundsError)
    assert (back.required, back.available) == (Decimal(2), Decimal("1.5"))
    assert (back.__dict__, str(back)) == (error.__dict__, str(error))
    assert back.reason == "no_liquidity"


def test_connection_and_timeout_errors_extend_the_builtin_ones() -> None:
    assert issubclass(steward.ConnectionError, OSError)
    assert issubclass(steward.TimeoutError, TimeoutError)
