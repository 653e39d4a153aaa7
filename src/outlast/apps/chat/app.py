"""The declaration of the chat app."""

from typing import Final

from outlast.kernel.apps.app import App
from outlast.kernel.threads.ports import DEFAULT_AGENT, SUMMARY_AGENT

APP: Final = App(
    name="chat", server="outlast.apps.chat.agent", implements=[DEFAULT_AGENT.by("chat"), SUMMARY_AGENT.by("summary")]
)
