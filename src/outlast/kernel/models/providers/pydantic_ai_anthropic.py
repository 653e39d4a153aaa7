"""Anthropic's model with tools that Anthropic runs itself, enabled by the operator's own fields. Imported only with the
extra."""

from typing import Any, Final, get_args

from anthropic.types.beta import BetaServerToolUseBlock
from pydantic_ai.models.anthropic import AnthropicModel

SERVER_TOOLS: Final = frozenset(get_args(BetaServerToolUseBlock.model_fields["name"].annotation))


class ServerToolModel(AnthropicModel):
    """`pydantic_ai` drops calls of tools that it has not enabled itself, but keeps their results: such a call would not
    be shown, and Anthropic refuses a result without its call."""

    def _get_enabled_server_tool_names(self, *args: Any, **more: Any) -> frozenset[str]:
        return super()._get_enabled_server_tool_names(*args, **more) | SERVER_TOOLS
