"""What the agent keeps of an effect."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as some

from outlast_sandbox.providers.local.inside.effects import MAX_KEPT_EFFECTS, Effect, Effects, Output, Refused


@given(some.lists(some.binary(max_size=40)), some.integers(4, 100))
def test_output_within_its_limit_is_whole_and_beyond_it_keeps_both_ends(parts: list[bytes], limit: int) -> None:
    output = Output(limit)
    for part in parts:
        output.add(part)
    everything, rest = b"".join(parts), output.rest()
    kept = bytes(output.head) + rest
    if len(everything) <= limit:
        assert kept == everything
        assert not output.truncated
    else:
        head, _, tail = kept.partition(b"\n[\xe2\x80\xa6 ")
        assert output.truncated
        assert everything.startswith(head[: limit * 3 // 4])
        assert everything.endswith(tail.partition(b" \xe2\x80\xa6]\n")[2])


def test_the_tail_does_not_begin_in_the_middle_of_a_character() -> None:
    output = Output(16)
    output.add("é".encode() * 100)
    assert output.rest().decode().endswith("é")


def test_a_newer_attempt_takes_over_and_an_older_one_is_refused() -> None:
    effects = Effects()
    effects.add(Effect("eff_1", 1, 100))
    found = effects.find("eff_1", 3)
    assert found is not None
    assert found.attempt == 3
    with pytest.raises(Refused, match="older than 3"):
        effects.find("eff_1", 2)


def test_an_acknowledged_effect_is_remembered_as_done() -> None:
    effects = Effects()
    effect = Effect("eff_1", 1, 100)
    effects.add(effect)
    effects.acknowledge("eff_1")
    assert effects.find("eff_1", 1) is effect, "a running effect is left alone"
    effect.finish(exit_code=0)
    effects.acknowledge("eff_1")
    with pytest.raises(Refused, match="acknowledged"):
        effects.find("eff_1", 2)


def test_the_oldest_results_nobody_asked_for_are_given_up_when_there_are_too_many() -> None:
    effects = Effects()
    for number in range(MAX_KEPT_EFFECTS + 10):
        effect = Effect(f"eff_{number}", 1, 100)
        effect.finish(exit_code=0)
        effects.add(effect)
    assert len(effects.summary()) == MAX_KEPT_EFFECTS
    assert effects.get("eff_0") is None
    assert effects.get(f"eff_{MAX_KEPT_EFFECTS + 9}") is not None


def test_the_first_result_stands() -> None:
    effect = Effect("eff_1", 1, 100)
    effect.finish(exit_code=0)
    effect.finish(exit_code=1)
    assert effect.result is not None
    assert effect.result["exit_code"] == 0
