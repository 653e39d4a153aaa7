"""Uses of secrets."""

from outlast.kernel.http.shapes import Answer


class SecretUseAnswer(Answer):
    """One request that carried a secret."""

    id: str
    project_id: str
    sandbox_id: str
    user_id: str | None
    secret: str
    host: str
    method: str
    path: str
    status: int | None
    at: str
