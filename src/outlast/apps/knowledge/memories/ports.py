"""What memory needs of a running server."""

from typing import Final

from outlast.kernel.apps.ports import Port
from outlast_sandbox.egress.redaction import Redactor

KNOWN_SECRETS: Final[Port[Redactor]] = Port("secrets that no memory contains", Redactor())
