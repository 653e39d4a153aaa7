"""Agents of pydantic-ai as guests. Everything here needs the extra `pydantic-ai`."""
