"""The declaration of the knowledge app: documentation, saved modules, memory."""

from typing import Final

from outlast.apps.knowledge import file_index, module_store, tables
from outlast.apps.knowledge.memories import store as memories
from outlast.apps.knowledge.memories.ports import KNOWN_SECRETS
from outlast.apps.knowledge.memories.shapes import MemoryChanged
from outlast.apps.knowledge.shapes import SourceChanged, SourceRemoved
from outlast.base.events import EventType
from outlast.kernel.agents.tools.run_code import AROUND_CODE
from outlast.kernel.apps.app import App
from outlast.kernel.files.index import FILE_INDEX
from outlast.kernel.library.memories import MEMORIES
from outlast.kernel.library.modules import LIBRARY, USABLE_MODULES
from outlast.kernel.library.search import SEARCH, SEARCH_DOCS
from outlast.kernel.library.shapes import ModulesSaved

APP: Final = App(
    name="knowledge",
    tables=[
        tables.knowledge_sources,
        tables.knowledge_pages,
        tables.knowledge_passages,
        tables.vectors,
        tables.modules,
        tables.memories,
        tables.projects_without_memory,
        tables.users_without_memory,
    ],
    blob_columns=[tables.modules.c.blob],
    prefixes={"source": "src", "passage": "psg", "module": "mod", "memory": "mem"},
    implements=[FILE_INDEX.by(file_index), LIBRARY.by(module_store), MEMORIES.by(memories)],
    server="outlast.apps.knowledge.server",
    opens=[SEARCH, SEARCH_DOCS, USABLE_MODULES, AROUND_CODE, KNOWN_SECRETS],
    tools=["search_docs", "remember", "recall"],
    events=[
        EventType("MemoryChangedEvent", MemoryChanged, "memory.changed"),
        EventType("ModulesSavedEvent", ModulesSaved, "modules.saved"),
        EventType("SourceChangedEvent", SourceChanged, "knowledge.updated"),
        EventType("SourceRemovedEvent", SourceRemoved, "knowledge.removed"),
    ],
    routes=[
        "outlast.apps.knowledge.routes",
        "outlast.apps.knowledge.module_routes",
        "outlast.apps.knowledge.memories.routes",
    ],
)
