"""The table `[web]`, and the policy of the guide."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from outlast.apps.web.settings import WebSettings
from outlast.base.errors import InvalidSetting
from outlast.kernel.apps.opened import Opening
from outlast.kernel.runs.policy import judge
from outlast.kernel.runs.settings import PolicyRule
from outlast.kernel.settings import settings_class
from outlast.kernel.settings.load import load_settings

GUIDE = Path(__file__).resolve().parents[4] / "docs" / "guides" / "web-tools.md"


def loaded(tmp_path: Path, text: str) -> Any:
    file = tmp_path / "outlast.toml"
    file.write_text(text)
    return load_settings(file, environ={})


def test_nothing_is_offered_unless_it_is_configured() -> None:
    assert (WebSettings().fetch, WebSettings().search, WebSettings().browser) == (False, "none", False)


@pytest.mark.parametrize(
    ("chosen", "url", "key_env"),
    [
        ({"search": "brave"}, "https://api.search.brave.com/res/v1", "BRAVE_API_KEY"),
        ({"search": "tavily"}, "https://api.tavily.com", "TAVILY_API_KEY"),
        ({"search": "tavily", "url": "http://proxy:1/", "api_key_env": "MY_KEY"}, "http://proxy:1", "MY_KEY"),
        ({"search": "searxng", "url": "http://localhost:8888"}, "http://localhost:8888", ""),
    ],
)
def test_a_service_has_its_own_address_and_variable_unless_given(
    chosen: dict[str, Any], url: str, key_env: str
) -> None:
    settings = WebSettings(**chosen)
    assert (settings.service_url, settings.key_env) == (url, key_env)


@pytest.mark.parametrize(
    ("table", "setting"),
    [
        ('search = "searxng"', "web.url"),
        ('search = "google"', "web.search"),
        ('search = "brave"\nurl = "ftp://x"', "web.url"),
        ('api_key_env = "not a name"', "web.api_key_env"),
        ('allow_private = ["no port"]', "web.allow_private"),
        ("results = 21", "web.results"),
    ],
)
def test_a_wrong_table_stops_the_start_with_the_name_of_the_setting(tmp_path: Path, table: str, setting: str) -> None:
    with pytest.raises(InvalidSetting) as raised:
        loaded(tmp_path, f"[web]\n{table}\n")
    assert raised.value.fields["setting"] == setting


@pytest.mark.parametrize(
    ("arguments", "decision"),
    [
        ({"url": "https://docs.example.org/a"}, "allow"),
        ({"url": "https://docs.example.org/a", "offset": 20_000}, "allow"),
        ({"url": "https://evil.example/?x=https://docs.example.org/"}, "ask"),
        ({"url": 'https://evil.example/?x="url":"https://docs.example.org/', "offset": 0}, "ask"),
        ({"url": "https://docs.example.org.evil.example/"}, "ask"),
    ],
)
def test_the_policy_of_the_guide_allows_one_site_and_asks_for_others(
    tmp_path: Path, arguments: dict[str, Any], decision: str
) -> None:
    rules = policy_of_guide(tmp_path, "web_fetch")
    assert judge(rules, "chat", "web_fetch", arguments).verdict.decision == decision


@pytest.mark.parametrize(
    ("site", "decision"), [("https://shop.example.org", "allow"), ("https://shop.example.org.evil.example", "deny")]
)
def test_the_policy_of_the_guide_permits_one_site_in_the_browser(tmp_path: Path, site: str, decision: str) -> None:
    rules = policy_of_guide(tmp_path, "browser_permission")
    assert judge(rules, "chat", "browser_permission", {"site": site}).verdict.decision == decision


def policy_of_guide(tmp_path: Path, tool: str) -> Sequence[PolicyRule]:
    blocks = GUIDE.read_text().split("```toml\n")
    policy = next(block for block in blocks if block.startswith(f'[[policy]]\ntool = "{tool}"'))
    return loaded(tmp_path, policy.partition("```")[0]).policy


def test_no_log_shows_the_key_of_a_service_whose_variable_follows_from_its_name() -> None:
    settings: Any = settings_class()(web=WebSettings(search="brave"))  # type: ignore[call-arg]  # an app's table
    opening: Any = SimpleNamespace(settings=settings, environment={"BRAVE_API_KEY": "bsa-secret-of-brave"})
    assert b"secret" not in Opening.known_secrets(opening).hide(b"bsa-secret-of-brave")
