"""Who may do what with a document: the rights that its project gives."""

from outlast.apps.documents.rows import DocumentRow
from outlast.apps.documents.tables import documents
from outlast.db.database import Tx
from outlast.kernel.accounts.actor import Actor
from outlast.kernel.projects.permissions import require_owned
from outlast.kernel.projects.rules import Right


def require_document(tx: Tx, actor: Actor, document_id: str, right: Right) -> DocumentRow:
    """The document's row, if the actor has `right` in its project. Raises `NotFound`, `Forbidden`."""
    return require_owned(tx, actor, DocumentRow, documents, "document", document_id, right)
