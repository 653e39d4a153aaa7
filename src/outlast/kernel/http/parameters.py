"""Parameters that routes of several nouns take."""

from typing import Annotated

from fastapi import Header, Path, Query

MAX_INT = 2**31 - 1  # versions and positions, as the databases count
Key = Annotated[str | None, Header(alias="Idempotency-Key")]
Limit = Annotated[int, Query(ge=1, le=200)]
LongLimit = Annotated[int, Query(ge=1, le=500)]
Before = Annotated[int | None, Query(ge=0, le=MAX_INT)]
Version = Annotated[int, Path(ge=0, le=MAX_INT)]
