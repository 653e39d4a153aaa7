"""What chat declares."""

from typing import Final

from outlast.kernel.apps.app import App

APP: Final = App(name="chat")
