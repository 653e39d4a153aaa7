"""An incoming webhook over HTTP, as GitHub and as a shell call it."""

from __future__ import annotations

import hashlib
import hmac

import orjson

from outlast.base.webhook_errors import HookSecretWrong
from outlast.kernel.hooks import actions
from outlast.kernel.hooks.shapes import HookRequest
from tests.asgi import Browser
from tests.factories import Team
from tests.flow.http.conftest import Site


async def test_a_signed_call_needs_no_sign_in_and_is_answered_with_its_run(site: Site) -> None:
    team = await site.services.db.write(Team)
    wanted = HookRequest(title="Pushes", template="{{ pusher.name }} pushed.")
    hook = await actions.create_hook(site.services, team.owner, team.project_id, wanted)
    body = orjson.dumps({"pusher": {"name": "Ada"}})
    signature = "sha256=" + hmac.new(hook.secret.encode(), body, hashlib.sha256).hexdigest()
    headers = {
        "content-type": "application/json",
        "user-agent": "GitHub-Hookshot/1",
        "X-Hub-Signature-256": signature,
        "X-GitHub-Delivery": "d-1",
    }
    program = Browser(site.remote.app, {})
    answer = await program.call("POST", hook.path, body, headers=headers)
    assert answer.status == 202, answer.body
    assert set(answer.json()) == {"run_id", "thread_id"}
    again = await program.call("POST", hook.path, body, headers=headers)
    assert again.body == answer.body
    changed = await program.call("POST", hook.path, body + b" ", headers=headers)
    assert (changed.status, changed.code) == (401, HookSecretWrong.code)
    assert hook.secret not in str(changed.body)


async def test_wrong_secrets_of_an_address_are_counted(site: Site) -> None:
    program = Browser(site.remote.app, {"authorization": "Bearer whsec_wrong", "content-type": "application/json"})
    codes = [(await program.call("POST", "/v1/hooks/hok_none", b"{}", headers=program.headers)).code for _ in range(40)]
    assert codes[0] == "hook_secret_wrong"
    assert codes[-1] == "rate_limited"
