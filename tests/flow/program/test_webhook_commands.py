"""`outlast webhooks …` against a server of its own process."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.flow.program.serving import CONFIG, served
from tests.flow.program.test_cli import outlast

pytestmark = pytest.mark.timeout(180)
NOWHERE = "http://127.0.0.1:1/hooks"
MORE = '[webhooks]\nallow_private = ["127.0.0.1:1"]\nfirst_retry_s = 2\ngive_up_after_s = 1\n'


def test_an_incoming_webhook_is_made_and_deleted_from_a_shell(tmp_path: Path) -> None:
    config, template = tmp_path / "outlast.toml", tmp_path / "ticket.txt"
    config.write_text(CONFIG.format(folder=tmp_path / "data"))
    template.write_text("Sort this ticket: {{ ticket.title }}")
    with served(config) as address:

        def run(*words: str) -> str:
            return outlast("hooks", *words, url=address).stdout

        assert run("create", "Tickets", "--template", str(template), "--same-thread").startswith("whsec_")
        hook = json.loads(run("list", "--json"))["items"][0]
        assert (hook["title"], hook["thread"], hook["template"]) == ("Tickets", "same", template.read_text())
        assert json.loads(run("calls", hook["id"], "--json"))["items"] == []
        assert run("rotate", hook["id"]).startswith("whsec_")
        assert "deleted" in run("delete", hook["id"])


def test_a_webhook_is_made_tested_replayed_and_deleted_from_a_shell(tmp_path: Path) -> None:
    config = tmp_path / "outlast.toml"
    config.write_text(CONFIG.format(folder=tmp_path / "data") + MORE)
    with served(config) as address:

        def run(*words: str) -> str:
            return outlast("webhooks", *words, url=address).stdout

        assert "run.completed" in run("events")
        made = run("create", NOWHERE, "--event", "run.error", "--title", "Tickets")
        assert made.startswith("whsec_")
        webhook = json.loads(run("list", "--json"))["items"][0]
        assert (webhook["title"], webhook["events"]) == ("Tickets", ["run.error"])
        delivery = json.loads(run("test", webhook["id"], "--json"))
        listed = ""
        for _ in range(100):
            listed = run("deliveries", webhook["id"], "--state", "dead")
            if delivery["id"] in listed:
                break
        assert "webhook.test" in listed
        assert "pending" in run("replay", delivery["id"])
        assert "sent again" in run("replay-dead", webhook["id"])
        assert run("rotate", webhook["id"]).startswith("whsec_")
        assert "off" in run("change", webhook["id"], "--off")
        assert "deleted" in run("delete", webhook["id"])
        assert json.loads(run("list", "--json"))["items"] == []
