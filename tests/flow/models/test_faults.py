"""Every adapter against every misbehaviour of a provider: the error it becomes, and what never appears in it."""

import logging
import pickle
import traceback
from typing import Any

import orjson
import pytest

from outlast.base import errors
from outlast.base.errors import OutlastError, ProviderRefused, TryLater
from outlast.kernel.models.protocol import ModelMessage, ToolCallPiece, ToolResultPiece, ToolSpec, UsageDelta
from outlast.kernel.models.turn_calls import sendable_arguments
from outlast.testing.model_server import Answer, Fault
from tests.flow.models.rig import KEY, KINDS, TERMINAL, listen, rigged, user

TEXT = "One two three four five six seven eight."
CALL = {"name": "terminal", "arguments": {"command": "ls -la a-rather-long-name"}, "id": "call_a1"}

SHORT: dict[str, Any] = {"first_token_timeout_s": 3, "token_timeout_s": 1}

every_kind = pytest.mark.parametrize("kind", KINDS)

EXPECTED = [
    (Fault.RATE_LIMITED, errors.ModelRateLimited),
    (Fault.SERVER_ERROR, errors.ModelOverloaded),
    (Fault.OVERLOADED, errors.ModelOverloaded),
    (Fault.BAD_KEY, errors.ModelKeyRefused),
    (Fault.REJECTED, errors.ModelRejected),
    (Fault.CONTENT_REFUSED, errors.ModelPolicyRefused),
    (Fault.CONTENT_FILTER, errors.ModelPolicyRefused),
    (Fault.STALL_FIRST, errors.ModelTimeout),
    (Fault.STALL_BODY, errors.ModelTimeout),
    (Fault.STALL_MID, errors.ModelTimeout),
    (Fault.DISCONNECT_FIRST, errors.ModelCut),
    (Fault.DISCONNECT_MID, errors.ModelCut),
    (Fault.NO_FINISH, errors.ModelCut),
    (Fault.MALFORMED_JSON, errors.ModelOutputInvalid),
    (Fault.ERROR_MID, errors.ModelOverloaded),
]


@every_kind
@pytest.mark.parametrize(("fault", "expected"), EXPECTED, ids=[fault.value for fault, _ in EXPECTED])
async def test_a_misbehaving_provider_becomes_one_error_of_the_tree(
    kind: str, fault: Fault, expected: type[OutlastError], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    answer = Answer(text=TEXT, fault=fault)
    patience = SHORT if expected is errors.ModelTimeout else {}
    async with rigged(kind, answer, **patience) as rig:
        heard = await listen(rig.model, rig.request())
        error = heard.error
        assert type(error) is expected, repr(error)
        assert isinstance(error, TryLater | ProviderRefused)
        assert len(rig.server.requests) == 1, "adapters never retry"
        assert error.fields.get("provider", "fake") == "fake"
        _assert_keeps_the_key(error, caplog)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "google"])
async def test_arguments_that_break_off_are_handed_on_as_they_came(kind: str) -> None:
    """They go back to the model as a tool error; the run used to end after three identical requests."""
    async with rigged(kind, Answer(text=TEXT, fault=Fault.TOOL_CALL_CUT, calls=(CALL,))) as rig:
        heard = await listen(rig.model, rig.request())
        assert heard.error is None
        whole = orjson.dumps(CALL["arguments"]).decode()
        assert [call.arguments for call in heard.calls] == [whole[: len(whole) // 2]]


async def test_gemini_says_itself_that_its_call_is_malformed() -> None:
    async with rigged("google", Answer(text=TEXT, fault=Fault.TOOL_CALL_CUT, calls=(CALL,))) as rig:
        assert isinstance((await listen(rig.model, rig.request())).error, errors.ModelOutputInvalid)


@every_kind
async def test_a_malformed_call_is_sent_back_in_a_form_that_the_provider_takes(kind: str) -> None:
    async with rigged(kind) as rig:
        broken = ToolCallPiece("call_a1", "terminal", sendable_arguments('{"command": "l'))
        result = ToolResultPiece("call_a1", "terminal", "not JSON", is_error=True)
        messages = (user("Go"), ModelMessage("assistant", (broken,)), ModelMessage("tool", (result,)))
        assert (await listen(rig.model, rig.request(*messages))).error is None
        assert "invalid_json" in orjson.dumps(rig.server.requests[0].body).decode()


@every_kind
async def test_a_failed_turn_says_what_it_used_where_the_provider_had_counted(kind: str) -> None:
    async with rigged(kind, Answer(text=TEXT, fault=Fault.CONTENT_FILTER)) as rig:
        heard = await listen(rig.model, rig.request())
        assert isinstance(heard.error, errors.ModelPolicyRefused)
        used = [delta.usage for delta in heard.deltas if isinstance(delta, UsageDelta)]
        assert [usage.input_tokens for usage in used] == [100]


def _assert_keeps_the_key(error: OutlastError, caplog: pytest.LogCaptureFixture) -> None:
    told = [repr(error), str(error), repr(error.to_dict()), repr(pickle.loads(pickle.dumps(error)).to_dict())]
    told += traceback.format_exception(error)
    told += [record.getMessage() for record in caplog.records]
    assert not [text for text in told if KEY in text]


@every_kind
@pytest.mark.parametrize("fault", [Fault.STALL_MID, Fault.DISCONNECT_MID, Fault.MALFORMED_JSON, Fault.ERROR_MID])
async def test_what_came_before_the_break_is_kept(kind: str, fault: Fault) -> None:
    async with rigged(kind, Answer(text=TEXT, fault=fault, after=4), token_timeout_s=0.3) as rig:
        assert (await listen(rig.model, rig.request())).text == "One two three four"


@every_kind
async def test_the_provider_says_how_long_to_wait(kind: str) -> None:
    async with rigged(kind, Answer(fault=Fault.RATE_LIMITED, retry_after="7")) as rig:
        error = (await listen(rig.model, rig.request())).error
        assert isinstance(error, TryLater)
        assert error.retry_after_s == 7


async def test_a_server_whose_tool_choice_cannot_name_a_tool_is_offered_that_tool_alone() -> None:
    refusal = Answer(fault=Fault.NO_NAMED_TOOL)
    async with rigged("openai-compatible", refusal, Answer(calls=(CALL,)), Answer(calls=(CALL,))) as rig:
        search = ToolSpec("search", "Searches.", {"type": "object", "properties": {}})
        request = rig.request(tools=(TERMINAL, search), tool_choice="terminal")
        for _ in range(2):
            assert [call.name for call in (await listen(rig.model, request)).calls] == ["terminal"]
        choices = [seen.body["tool_choice"] for seen in rig.server.requests]
        assert choices == [{"type": "function", "function": {"name": "terminal"}}, "required", "required"]
        offered = [[tool["function"]["name"] for tool in seen.body["tools"]] for seen in rig.server.requests]
        assert offered == [["terminal", "search"], ["terminal"], ["terminal"]]


async def test_a_server_that_accepts_no_required_call_says_so_to_the_person_with_what_to_do() -> None:
    async with rigged("openai-compatible", Answer(fault=Fault.NO_TOOL_CHOICE)) as rig:
        error = (await listen(rig.model, rig.request(tool_choice="required"))).error
        assert isinstance(error, errors.ModelRejected)
        assert "Choose another model" in error.hint
        assert "does not support this tool_choice" in error.message


@every_kind
async def test_a_slow_answer_is_no_stalled_one(kind: str) -> None:
    slow = Answer(text=TEXT, delay_s=0.05)
    async with rigged(kind, slow, first_token_timeout_s=5, token_timeout_s=1) as rig:
        heard = await listen(rig.model, rig.request())
        assert (heard.error, heard.text) == (None, TEXT)


@every_kind
async def test_a_provider_that_is_not_there_is_unreachable(kind: str) -> None:
    async with rigged(kind) as rig:
        await rig.server.__aexit__(None, None, None)
        error = (await listen(rig.model, rig.request())).error
        assert type(error) is errors.ModelUnreachable, repr(error)
        assert "127.0.0.1" in error.message


@every_kind
async def test_a_refusal_quotes_the_provider_without_the_key(kind: str) -> None:
    async with rigged(kind, Answer(fault=Fault.REJECTED)) as rig:
        error = (await listen(rig.model, rig.request())).error
        assert isinstance(error, errors.ModelRejected)
        assert "The field foo is not known" in error.message
        assert "••••••" in error.message


@every_kind
async def test_a_refused_key_names_where_it_came_from(kind: str) -> None:
    async with rigged(kind, Answer(fault=Fault.BAD_KEY)) as rig:
        error = (await listen(rig.model, rig.request())).error
        assert isinstance(error, errors.ModelKeyRefused)
        assert "FAKE_KEY" in error.hint


@every_kind
async def test_after_a_fault_the_next_turn_works(kind: str) -> None:
    for fault in (Fault.DISCONNECT_MID, Fault.SERVER_ERROR, Fault.STALL_MID):
        answers = [Answer(text=TEXT, fault=fault), Answer(text="Back again.")]
        async with rigged(kind, *answers, token_timeout_s=0.3) as rig:
            assert (await listen(rig.model, rig.request())).error is not None
            assert (await listen(rig.model, rig.request())).text == "Back again."
