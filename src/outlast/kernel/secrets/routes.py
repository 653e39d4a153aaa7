"""Saved secrets: declare, enter values, delete."""

from starlette.responses import Response

from outlast.kernel.http.auth import Signed, Svc
from outlast.kernel.http.responses import nothing, page, reply
from outlast.kernel.http.routers import noun_router
from outlast.kernel.http.shapes import Page
from outlast.kernel.secrets import actions
from outlast.kernel.secrets.shapes import (
    NewOwnSecretRequest,
    NewSecretRequest,
    SecretAnswer,
    SecretChangeRequest,
    SecretValueRequest,
)

router = noun_router("Secrets")


@router.get("/projects/{project_id}/secrets", response_model=Page[SecretAnswer])
async def list_secrets(project_id: str, services: Svc, actor: Signed) -> Response:
    """List the saved secrets for sandboxes of a project: those of your own, the project's, then the server's (editors).
    Values are never included."""
    return reply(page(await actions.list_secrets(services, actor, project_id)))


@router.post("/projects/{project_id}/secrets", status_code=201, response_model=SecretAnswer)
async def create_secret(project_id: str, body: NewSecretRequest, services: Svc, actor: Signed) -> Response:
    """Declare a secret of a project (owners): sandboxes that start from now on may reach its hosts, and its value is
    put into requests to them. Without a value, each person enters their own."""
    made = await actions.create_secret(services, actor, project_id, body.name, body.hosts, body.value)
    return reply(made, 201)


@router.get("/me/secrets", response_model=Page[SecretAnswer])
async def list_own_secrets(services: Svc, actor: Signed) -> Response:
    """List the secrets that are your own. Values are never included."""
    return reply(page(await actions.list_own_secrets(services, actor)))


@router.post("/me/secrets", status_code=201, response_model=SecretAnswer)
async def create_own_secret(body: NewOwnSecretRequest, services: Svc, actor: Signed) -> Response:
    """Save a secret of your own: it is used in the runs that you start, in every project, and seen by you alone. It
    goes before a secret of a project that has the same name."""
    return reply(await actions.create_own_secret(services, actor, body.name, body.hosts, body.value), 201)


@router.get("/admin/secrets", response_model=Page[SecretAnswer])
async def list_server_secrets(services: Svc, actor: Signed) -> Response:
    """List the saved secrets of the whole server (administrators)."""
    return reply(page(await actions.list_secrets(services, actor, None)))


@router.post("/admin/secrets", status_code=201, response_model=SecretAnswer)
async def create_server_secret(body: NewSecretRequest, services: Svc, actor: Signed) -> Response:
    """Declare a secret for sandboxes of every project (administrators)."""
    return reply(await actions.create_secret(services, actor, None, body.name, body.hosts, body.value), 201)


@router.patch("/secrets/{secret_id}", response_model=SecretAnswer)
async def change_secret(secret_id: str, body: SecretChangeRequest, services: Svc, actor: Signed) -> Response:
    """Change a secret's hosts or its value for everybody (owners; administrators for the server's). With other hosts, a
    value has to be entered again, and people's own values are forgotten."""
    return reply(await actions.change_secret(services, actor, secret_id, body.hosts, body.value))


@router.delete("/secrets/{secret_id}", status_code=204)
async def delete_secret(secret_id: str, services: Svc, actor: Signed) -> Response:
    """Delete a secret with all its values (owners; administrators for the server's). Requests with it are refused at
    once."""
    await actions.delete_secret(services, actor, secret_id)
    return nothing()


@router.put("/secrets/{secret_id}/value", response_model=SecretAnswer)
async def set_own_value(secret_id: str, body: SecretValueRequest, services: Svc, actor: Signed) -> Response:
    """Enter your own value (editors). It goes before the value for everybody in the runs that you start."""
    return reply(await actions.set_own_value(services, actor, secret_id, body.value))


@router.delete("/secrets/{secret_id}/value", response_model=SecretAnswer)
async def forget_own_value(secret_id: str, services: Svc, actor: Signed) -> Response:
    """Forget your own value (editors)."""
    return reply(await actions.forget_own_value(services, actor, secret_id))
