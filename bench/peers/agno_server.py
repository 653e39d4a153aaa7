"""Agno's server with its durable queue, for `python -m bench.peers`. Run by an environment that has Agno, not ours.

Arguments: port, PostgreSQL address, Redis address, port of the model server, file of the tool's effects.
"""

import sys
import time

import uvicorn
from agno.agent import Agent
from agno.db.postgres import PostgresDb
from agno.models.openai.like import OpenAILike
from agno.os import AgentOS, QueueConfig
from agno.tools import tool

PORT, DATABASE, REDIS, MODEL_PORT, EFFECTS = sys.argv[1:6]
LEASE_S = 15


def _note(command: str) -> str:
    with open(EFFECTS, "a", encoding="ascii") as file:
        file.write(f"{command}\n")
    time.sleep(2)
    return "noted"


@tool(name="terminal")
def at_once(command: str) -> str:
    """Note a command."""
    return _note(command)


@tool(name="terminal", requires_confirmation=True)
def confirmed(command: str) -> str:
    """Note a command, once a person has confirmed it."""
    return _note(command)


database = PostgresDb(db_url=DATABASE.replace("postgresql://", "postgresql+psycopg://"))
model = OpenAILike(id="bench", base_url=f"http://127.0.0.1:{MODEL_PORT}/v1", api_key="none")
agents = [
    Agent(id="plain", model=model, db=database, telemetry=False),
    Agent(id="tools", model=model, db=database, tools=[at_once], telemetry=False),
    Agent(id="asks", model=model, db=database, tools=[confirmed], telemetry=False),
]
queue = QueueConfig(
    durable=True,
    redis=REDIS,
    max_attempts=5,
    retry_delay_seconds=1,
    lock_grace_seconds=LEASE_S,
    stop_timeout_seconds=10,
)
app = AgentOS(agents=agents, db=database, queue=queue, telemetry=False).get_app()

if __name__ == "__main__":
    uvicorn.run(app, host="127.0.0.1", port=int(PORT), log_level="warning")
