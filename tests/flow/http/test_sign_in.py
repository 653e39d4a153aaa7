"""Ways in: this machine's owner, tokens, sessions, invitations."""

from __future__ import annotations

import pytest

from tests.asgi import Browser
from tests.factories import Team, make_user
from tests.flow.http.conftest import Site

COOKIE = "outlast_session"


async def test_on_this_machine_the_owner_is_signed_in_by_itself(site: Site):
    me = (await site.local.get("/v1/me")).json()
    assert me["local_mode"] is True
    assert me["user"]["name"] == "Owner"
    assert me["default_project_id"].startswith("prj_")


@pytest.mark.parametrize("header", ["x-forwarded-for", "forwarded", "x-real-ip"])
async def test_whoever_comes_through_a_proxy_is_not_local(site: Site, header: str):
    assert (await site.local.get("/v1/me", **{header: "127.0.0.1"})).status == 401


async def test_another_machine_is_not_local(site: Site):
    assert (await Browser(site.local.app, client=("192.168.1.9", 40000)).get("/v1/me")).status == 401


async def test_a_browser_gets_a_cookie_session_that_no_script_and_no_other_site_can_use(site: Site):
    answer = await site.local.get("/v1/me", sec_fetch_site="same-origin")
    header = answer.header("set-cookie").lower()
    assert "httponly" in header
    assert "samesite=strict" in header
    signed_in = Browser(site.remote.app, {"cookie": f"{COOKIE}={answer.cookie(COOKIE)}"})
    assert (await signed_in.get("/v1/me")).json()["user"]["name"] == "Owner"


async def test_curl_gets_no_cookie(site: Site):
    assert not (await site.local.get("/v1/me")).cookie(COOKIE)


async def test_a_token_is_exchanged_for_a_session_that_ends_when_it_is_signed_out(site: Site):
    actor = await site.services.db.write(make_user, "Ada")
    token = (await site.signed_in(actor)).headers["authorization"].removeprefix("Bearer ")
    opened = await site.remote.post("/v1/session", {"token": token})
    assert opened.status == 204
    browser = Browser(site.remote.app, {"cookie": f"{COOKIE}={opened.cookie(COOKIE)}"})
    assert (await browser.get("/v1/me")).json()["user"]["name"] == "Ada"
    assert (await browser.call("DELETE", "/v1/session")).status == 204
    assert (await browser.get("/v1/me")).status == 401


async def test_a_wrong_token_opens_no_session(site: Site):
    answer = await site.remote.post("/v1/session", {"token": "ol_wrong"})
    assert (answer.status, answer.code) == (401, "not_signed_in")
    assert not answer.cookie(COOKIE)


async def test_revoking_a_token_ends_its_sessions(site: Site):
    actor = await site.services.db.write(make_user, "Ada")
    ada = await site.signed_in(actor)
    made = (await ada.post("/v1/tokens", {"name": "laptop"})).json()
    opened = await site.remote.post("/v1/session", {"token": made["token"]})
    browser = Browser(site.remote.app, {"cookie": f"{COOKIE}={opened.cookie(COOKIE)}"})
    assert (await browser.get("/v1/me")).status == 200
    assert (await ada.call("DELETE", f"/v1/tokens/{made['id']}")).status == 204
    assert (await browser.get("/v1/me")).status == 401
    assert made["id"] not in [token["id"] for token in (await ada.get("/v1/tokens")).json()["items"]]


async def test_an_invitation_makes_a_member_of_whoever_opens_it(site: Site):
    team: Team = await site.services.db.write(Team)
    owner = await site.signed_in(team.owner)
    made = (await owner.post(f"/v1/projects/{team.project_id}/invitations", {"role": "editor"})).json()
    assert made["url"].endswith(f"/join#{made['token']}")
    joined = await site.remote.post("/v1/invitations/accept", {"token": made["token"], "name": "Nina"})
    assert joined.json()["project_id"] == team.project_id
    by_cookie = Browser(site.remote.app, {"cookie": f"{COOKIE}={joined.cookie(COOKIE)}"})
    by_token = Browser(site.remote.app, {"authorization": f"Bearer {joined.json()['token']}"})
    for nina in (by_cookie, by_token):
        assert (await nina.get(f"/v1/projects/{team.project_id}")).json()["role"] == "editor"
    again = await site.remote.post("/v1/invitations/accept", {"token": made["token"], "name": "Olaf"})
    assert (again.status, again.code) == (404, "not_found")


async def test_whoever_is_signed_in_joins_as_themselves(site: Site):
    team: Team = await site.services.db.write(Team)
    owner, stranger = await site.signed_in(team.owner), await site.signed_in(team.stranger)
    made = (await owner.post(f"/v1/projects/{team.project_id}/invitations", {"role": "viewer"})).json()
    joined = (await stranger.post("/v1/invitations/accept", {"token": made["token"]})).json()
    assert joined["user"]["id"] == team.stranger.user_id
    assert joined["token"] is None


async def test_signing_out_with_a_cookie_that_nobody_gave_writes_nothing_and_rings_no_bell(
    site: Site, monkeypatch: pytest.MonkeyPatch
):
    # Anybody could make every open stream ask the database again, as often as they liked, without signing in.
    writes: list[object] = []
    monkeypatch.setattr(site.services.db, "write", writes.append)
    stranger = Browser(site.remote.app, {"cookie": f"{COOKIE}=guessed"})
    assert (await stranger.call("DELETE", "/v1/session")).status == 204
    assert writes == []


async def test_an_address_that_guesses_tokens_is_refused_for_a_while(site: Site):
    guesser = Browser(site.remote.app, client=("198.51.100.7", 40000))
    most = site.services.settings.limits.wrong_sign_ins_per_minute_per_address
    for _ in range(most):
        assert (await guesser.post("/v1/session", {"token": "ol_wrong"})).status == 401
    for path, body in (("/v1/session", {"token": "ol_wrong"}), ("/v1/invitations/accept", {"token": "oli_x"})):
        answer = await guesser.post(path, body)
        assert (answer.status, answer.code) == (429, "rate_limited")
        assert int(answer.header("retry-after")) > 0
    other = Browser(site.remote.app, client=("198.51.100.8", 40000))
    assert (await other.post("/v1/session", {"token": "ol_wrong"})).status == 401
