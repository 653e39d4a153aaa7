"""The agents of `python -m bench.peers`, in Outlast's words: `OUTLAST_PEERS_EFFECTS` names the file of effects."""

import os
import time

from outlast import Agent, tool


def _note(command: str) -> str:
    with open(os.environ["OUTLAST_PEERS_EFFECTS"], "a", encoding="ascii") as file:
        file.write(f"{command}\n")
    time.sleep(2)
    return "noted"


@tool(name="terminal")
def at_once(command: str) -> str:
    """Note a command."""
    return _note(command)


@tool(name="terminal", ask="It changes something.")
def confirmed(command: str) -> str:
    """Note a command, once a person has approved it."""
    return _note(command)


plain = Agent("plain", instructions="Answer.")
tools = Agent("tools", instructions="Answer.", tools=[at_once])
asks = Agent("asks", instructions="Answer.", tools=[confirmed])
