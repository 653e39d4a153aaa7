"""Saved secrets as the API shows them: never their values."""

from typing import Annotated

from pydantic import StringConstraints

from outlast.kernel.http.shapes import Answer, Request

Value = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=8_000)]


class SecretAnswer(Answer):
    """A saved secret, as the caller may use it."""

    id: str
    project_id: str | None
    is_own: bool
    name: str
    hosts: list[str]
    has_value: bool
    has_own_value: bool
    created_by: str
    created_at: str
    updated_at: str


class NewSecretRequest(Request):
    name: str
    hosts: list[str]
    value: Value | None = None


class NewOwnSecretRequest(Request):
    name: str
    hosts: list[str]
    value: Value


class SecretChangeRequest(Request):
    """What is to be changed; what is left out stays."""

    hosts: list[str] | None = None
    value: Value | None = None


class SecretValueRequest(Request):
    value: Value
