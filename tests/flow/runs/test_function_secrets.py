"""Secrets in functions: texts that stand for them, and become the placeholders of the sandbox; never values."""

from __future__ import annotations

from pathlib import Path

import pytest

from outlast import Context, flow
from outlast.base.agent_errors import UnknownSecret
from outlast.db.database import Database, Tx
from outlast.kernel.runs.function_secrets import FunctionSecrets
from outlast.kernel.sandboxes.settings import DependencySettings, SandboxSettings
from outlast.kernel.secrets import store as saved
from outlast.kernel.settings import Settings
from tests.factories import make_user
from tests.flow.runs.test_function_sandbox import at_work, house
from tests.flow.runs.test_functions import playing, texts

SANDBOX = SandboxSettings(
    dependencies=(
        DependencySettings(secret_env="STRIPE_KEY", hosts=("api.stripe.com",)),
        DependencySettings(secret_env="STRIPE_KEY_PLACEHOLDER", hosts=("api.stripe.com",)),
        DependencySettings(package="npm:left-pad@1"),
    )
)


@flow("chat")
async def paying(ctx: Context) -> str:
    key = ctx.secrets["STRIPE_KEY"]
    await ctx.sandbox.write("key.txt", f"key={key}")
    result = await ctx.sandbox.run(f"echo {key} {ctx.secrets['STRIPE_KEY_PLACEHOLDER']}; cat key.txt")
    return f"{sorted(ctx.secrets)} {result.output}"


async def test_what_stands_for_a_secret_becomes_the_placeholder_of_the_sandbox(db: Database, tmp_path: Path) -> None:
    async def placeholders(sandbox_id: str) -> dict[str, str]:
        return {name: f"<{name} in {sandbox_id}>" for name in ("STRIPE_KEY", "STRIPE_KEY_PLACEHOLDER")}

    async with house(db, tmp_path, paying, settings=Settings(sandbox=SANDBOX)) as here, at_work(here.it):
        here.it.services.engine.workspaces.placeholders = placeholders
        [said] = texts(await here.it.events((await here.it.start()).run_id))
        [sandbox_id] = here.provider.created
        key = f"<STRIPE_KEY in {sandbox_id}>"
        assert said == (
            f"['STRIPE_KEY', 'STRIPE_KEY_PLACEHOLDER'] {key} <STRIPE_KEY_PLACEHOLDER in {sandbox_id}>\nkey={key}"
        )


async def test_a_provider_without_placeholders_says_to_use_the_variable(db: Database, tmp_path: Path) -> None:
    async with house(db, tmp_path, paying, settings=Settings(sandbox=SANDBOX)) as here, at_work(here.it):
        error = (await here.it.events((await here.it.start()).run_id))[-2]["data"]["error"]
        assert "gives no placeholder for STRIPE_KEY" in error["message"]


async def test_a_secret_that_does_not_exist_ends_the_flow_with_the_names_that_do(db: Database, tmp_path: Path) -> None:
    @flow("chat")
    async def asking(ctx: Context) -> str:
        return ctx.secrets["GITHUB_TOKEN"]

    async with playing(db, tmp_path, asking, settings=Settings(sandbox=SANDBOX)) as it:
        error = (await it.events((await it.start()).run_id))[-2]["data"]["error"]
        assert error["code"] == "unknown_secret"
        assert "STRIPE_KEY, STRIPE_KEY_PLACEHOLDER" in error["message"]


def test_a_server_without_sandboxes_has_no_secrets() -> None:
    secrets = FunctionSecrets(None)
    assert list(secrets) == []
    assert "STRIPE_KEY" not in secrets
    with pytest.raises(UnknownSecret, match="There are: none"):
        secrets["STRIPE_KEY"]


async def test_saved_secrets_are_there_too_for_the_person_who_started_the_run_and_no_one_else(
    db: Database, tmp_path: Path
) -> None:
    @flow("chat")
    async def listing(ctx: Context) -> str:
        assert ctx.secrets["PROJECT_KEY"] == "OUTLAST_SECRET_PROJECT_KEY_PLACEHOLDER"
        return f"{sorted(ctx.secrets)}"

    async with playing(db, tmp_path, listing, settings=Settings(sandbox=SANDBOX)) as it:
        ben = await db.write(make_user, "Ben")

        def save(tx: Tx) -> None:
            for name, project_id, owner in (
                ("PROJECT_KEY", it.project_id, None),
                ("SERVER_KEY", None, None),
                ("MY_KEY", None, it.owner.user_id),
                ("BENS_KEY", None, ben.user_id),
            ):
                assert saved.add(tx, project_id, name, ["api.example"], it.owner.user_id, owner)

        await db.write(save)
        [said] = texts(await it.events((await it.start()).run_id))
        assert said == "['MY_KEY', 'PROJECT_KEY', 'SERVER_KEY', 'STRIPE_KEY', 'STRIPE_KEY_PLACEHOLDER']"
