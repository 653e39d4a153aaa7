from outlast.kernel.agents.agent import Agent as Agent
from outlast.kernel.agents.context import Context as Context
from outlast.kernel.agents.context import StageContext as StageContext
from outlast.kernel.agents.flow import flow as flow
from outlast.kernel.agents.hooks import StageResult as StageResult
from outlast.kernel.agents.images import Image as Image
from outlast.kernel.agents.tool import ToolResult as ToolResult
from outlast.kernel.agents.tool import tool as tool
