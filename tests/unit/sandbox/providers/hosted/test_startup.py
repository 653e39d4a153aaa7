"""The commands that put the agent into a hosted sandbox."""

from __future__ import annotations

import base64
import json
import shlex
from pathlib import Path

from outlast_sandbox.interface import SandboxSpec
from outlast_sandbox.providers.hosted.startup import dial_words, relay_words, start_command

MAX_ARGUMENT_BYTES = 128 * 1024  # of Linux, for one word


def config_of(spec: SandboxSpec) -> dict[str, object]:
    words = shlex.split(start_command(spec, "nonce"))
    told: dict[str, object] = json.loads(base64.b64decode(words[words.index("start") + 1]))
    return told


def test_the_agent_fits_into_one_word_of_a_command_line_with_room_to_grow() -> None:
    assert len(start_command(SandboxSpec("sbx_1", Path("any")), "nonce")) < MAX_ARGUMENT_BYTES * 3 // 4


def test_the_environment_reaches_the_agent_whatever_is_in_it() -> None:
    env = {"QUOTED": "a 'b' \"c\" $(d)\n"}
    found = config_of(SandboxSpec("sbx_1", Path("any"), env=env))["env"]
    assert isinstance(found, dict)
    assert found["QUOTED"] == env["QUOTED"]


def test_the_workspace_may_be_the_home_folder() -> None:
    assert config_of(SandboxSpec("sbx_1", Path("any")))["workspace"] == "/workspace"
    assert config_of(SandboxSpec("sbx_1", Path("any"), home_is_workspace=True))["workspace"] == "~"


def test_relays_say_whose_they_are() -> None:
    assert relay_words("nonce")[-3:] == ["relay", "nonce", "outlast-relay"]
    assert dial_words(80, "nonce")[-4:] == ["dial", "80", "nonce", "outlast-relay"]
