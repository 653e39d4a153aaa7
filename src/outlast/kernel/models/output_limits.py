"""Limits of an answer's length: a shipped table by model, and the limits that providers name when they refuse."""

import re
import tomllib
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Final

from outlast.base.errors import ModelRejected
from outlast.base.records import dataclass
from outlast.kernel.models.protocol import Delta, LanguageModel, ModelRequest
from outlast.kernel.models.settings import UNKNOWN_MODEL_TOKENS

MIN_TOKENS: Final = 256  # a request with less room than this is not retried
TABLE: Final = Path(__file__).with_name("output_limits.toml")

_NUMBER: Final = r"[`'\"]?(\d[\d,_]{0,11})"


def _patterns(*patterns: str) -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(pattern, re.IGNORECASE) for pattern in patterns)


_LIMITS: Final = _patterns(
    rf"supports at most {_NUMBER} (?:completion|output) tokens",  # OpenAI
    rf"max_(?:completion_|output_)?tokens: \d+ > {_NUMBER}",  # Anthropic
    rf"max_(?:completion_|output_)?tokens[^.]{{0,40}}less than or equal to {_NUMBER}",  # Groq, xAI
    rf"range of max_(?:completion_|output_)?tokens is \[\d+, ?{_NUMBER}",  # DeepSeek, Qwen
    rf"max_(?:completion_|output_)?tokens\D{{0,40}}(?:at most|maximum(?: allowed| value)?(?: is| of)?) {_NUMBER}",
)
_BELOW: Final = re.compile(  # Google: the end of the range is exclusive
    rf"maxOutputTokens[^.]{{0,60}}supported range is from \d+ \(inclusive\) to {_NUMBER} \(exclusive\)", re.IGNORECASE
)
_ROOM: Final = _patterns(
    rf"can only afford {_NUMBER}",  # OpenRouter, by what the account has left
    rf"\(\d+ > {_NUMBER} - (\d+)\)",  # vLLM: context and input
    # llama.cpp, Azure and older servers: context, then input and output
    rf"maximum context length is {_NUMBER} tokens.{{0,80}}?\((\d+) in (?:the|your) (?:messages|prompt|input)",
)


@dataclass(frozen=True, slots=True)
class NamedLimit:
    """The length limit that a refusal names. `lasting`: it holds for the model, not only for this request."""

    tokens: int
    lasting: bool


@cache
def _table() -> Mapping[str, int]:
    limits: Mapping[str, int] = tomllib.loads(TABLE.read_text())["limits"]
    return limits


def output_limit(model: str, context_tokens: int) -> int:
    """Tokens of an answer for the provider's name of a model: the shipped table's, or `UNKNOWN_MODEL_TOKENS`; at most
    half of the context, since the other half is the conversation's."""
    name = model.lower().rpartition("/")[2]
    fitting = [key for key in _table() if name.startswith(key)]
    known = _table()[max(fitting, key=len)] if fitting else UNKNOWN_MODEL_TOKENS
    return max(min(known, context_tokens // 2), 1)


def named_limit(said: str, asked: int) -> NamedLimit | None:
    """The limit that a provider's refusal names, below the requested one; None if it is about something else. Reads at
    most 1,000 characters."""
    said = said[:1_000]
    for pattern in _LIMITS:
        if found := pattern.search(said):
            return _usable(_number(found[1]), asked, lasting=True)
    if found := _BELOW.search(said):
        return _usable(_number(found[1]) - 1, asked, lasting=True)
    for pattern in _ROOM:
        if found := pattern.search(said):
            used = _number(found[2]) if found.re.groups > 1 else 0
            return _usable(_number(found[1]) - used, asked, lasting=False)
    return None


def _number(text: str) -> int:
    return int(re.sub(r"[,_]", "", text))


def _usable(tokens: int, asked: int, *, lasting: bool) -> NamedLimit | None:
    return NamedLimit(tokens, lasting) if MIN_TOKENS <= tokens < asked else None


class WithinLimit:
    """A `LanguageModel` that retries once if the provider refuses the length of the answer and names a shorter one. In
    memory: the limits that were named, by model."""

    def __init__(self, inner: LanguageModel) -> None:
        self.inner = inner
        self._named: dict[str, int] = {}

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Sequence[Delta], None]:
        """See `LanguageModel.stream`."""
        model = request.model
        asked = request.max_output_tokens or model.max_output_tokens
        bound = min(asked, self._named.get(model.name, asked))
        begun = False
        try:
            async with aclosing(self.inner.stream(replace(request, max_output_tokens=bound))) as batches:
                async for batch in batches:
                    begun = True
                    yield batch
            return
        except ModelRejected as error:
            limit = None if begun else named_limit(error.message, bound)
            if limit is None:
                raise
        if limit.lasting:
            self._named[model.name] = limit.tokens
        async with aclosing(self.inner.stream(replace(request, max_output_tokens=limit.tokens))) as batches:
            async for batch in batches:
                yield batch
