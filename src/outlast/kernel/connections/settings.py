"""Settings of connections."""

from outlast.base.records import dataclass
from outlast.base.settings.checks import VARIABLE, Where, check_address, refuse
from outlast.base.settings.fields import setting


@dataclass(frozen=True, slots=True)
class ConnectionClient:
    """This server as a client of an authorization server that the operator registered it with."""

    issuer: str = setting("Issuer of the authorization server, as its metadata names it.")
    client_id: str = setting("Client id that it gave to this server.")
    secret_env: str = setting("Environment variable that holds the client secret; empty if there is none.", "")

    def check_at(self, index: int, where: Where) -> None:
        """Raises `InvalidSetting`."""
        check_address(f"connections.{index}.issuer", self.issuer, where)
        if self.secret_env and not VARIABLE.match(self.secret_env):
            expected = "the name of an environment variable"
            refuse(f"connections.{index}.secret_env", expected, "other text", where, quoted=False)
