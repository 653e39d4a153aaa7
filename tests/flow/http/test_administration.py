"""Administrators of the server: users, plans, credits; owners of projects see and change none."""

from __future__ import annotations

from tests.asgi import Browser
from tests.factories import Team, make_user
from tests.flow.http.conftest import Site


async def test_a_user_is_moved_to_another_plan_and_given_credits(site: Site) -> None:
    ada = await site.services.db.write(make_user, "Ada")
    path = f"/v1/admin/users/{ada.user_id}"
    moved = await site.local.call("PATCH", path, {"plan": "starter"})
    assert (moved.status, moved.json()["plan"], moved.json()["balance"]) == (200, "starter", 25)
    given = await site.local.call("POST", f"{path}/grants", {"credits": 10})
    assert (given.status, given.json()["balance"]) == (201, 35)
    mine = await (await site.signed_in(ada)).call("GET", "/v1/credits")
    assert mine.json()["balance"] == 35


async def test_an_unlimited_user_and_an_unknown_plan_are_refused_in_words(site: Site) -> None:
    ada = await site.services.db.write(make_user, "Ada")
    path = f"/v1/admin/users/{ada.user_id}"
    refused = await site.local.call("PATCH", path, {"plan": "gold"})
    assert (refused.status, refused.json()["code"]) == (400, "malformed_input")
    assert "starter" in refused.json()["detail"]
    await site.local.call("PATCH", path, {"plan": "unlimited"})
    refused = await site.local.call("POST", f"{path}/grants", {"credits": 10})
    assert (refused.status, refused.json()["code"]) == (400, "malformed_input")


async def test_the_local_owner_is_an_administrator_and_the_last_one_stays(site: Site) -> None:
    me = (await site.local.call("GET", "/v1/me")).json()["user"]
    assert me["is_admin"]
    refused = await site.local.call("PATCH", f"/v1/admin/users/{me['id']}", {"is_admin": False})
    assert (refused.status, refused.json()["code"]) == (409, "last_administrator")
    ada = await site.services.db.write(make_user, "Ada")
    await site.local.call("PATCH", f"/v1/admin/users/{ada.user_id}", {"is_admin": True})
    hers: Browser = await site.signed_in(ada)
    left = await hers.call("PATCH", f"/v1/admin/users/{ada.user_id}", {"is_admin": False})
    assert (left.status, left.json()["is_admin"]) == (200, False)
    assert (await hers.call("GET", "/v1/admin/users")).status == 403


async def test_users_come_page_by_page_and_are_found_by_a_part_of_their_name(site: Site) -> None:
    for n in range(3):
        await site.services.db.write(make_user, f"Grace {n}%")
    first = await site.local.call("GET", "/v1/admin/users?q=grace&limit=2")
    assert [user["name"] for user in first.json()["items"]] == ["Grace 2%", "Grace 1%"]
    rest = await site.local.call("GET", f"/v1/admin/users?q=GRACE&limit=2&after={first.json()['next']}")
    assert [user["name"] for user in rest.json()["items"]] == ["Grace 0%"]
    assert rest.json()["next"] is None
    assert "pro" in rest.json()["plans"]
    assert (await site.local.call("GET", "/v1/admin/users?q=_%25")).json()["items"] == []


async def test_owners_see_plans_and_balances_of_members_and_others_do_not(site: Site) -> None:
    team = await site.services.db.write(Team)
    await site.local.call("PATCH", f"/v1/admin/users/{team.editor.user_id}", {"plan": "starter"})
    path = f"/v1/projects/{team.project_id}/members"
    for actor, seen in ((team.owner, ("starter", 25)), (team.editor, (None, None)), (team.viewer, (None, None))):
        members = (await (await site.signed_in(actor)).call("GET", path)).json()["items"]
        (editor,) = [one for one in members if one["user_id"] == team.editor.user_id]
        assert (editor["plan"], editor["balance"]) == seen
