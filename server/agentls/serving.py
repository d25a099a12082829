"""The language server on stdin and stdout: the handshake first, the app behind it."""

from __future__ import annotations

import asyncio
import gc
import signal
from typing import TYPE_CHECKING

from . import __version__
from .runtime import TaskOwner

if TYPE_CHECKING:
    from .app import App
    from .core.settings import Settings


async def serve() -> int:
    # The types of LSP are thousands of objects that live for ever: collecting garbage while they
    # are made, and looking at them again in every later collection, is wasted time.
    gc.set_threshold(10_000)
    from .editor.server import EditorServer

    gc.freeze()
    gc.set_threshold(700)

    built: list[App] = []
    async with TaskOwner() as tasks:

        def build(settings: Settings) -> App:
            from .app import App  # an editor does not wait for it with the handshake

            built.append(App(settings, tasks))
            return built[-1]

        server = EditorServer(__version__, build)
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, server.stop)
        try:
            return await server.run()
        finally:
            for app in built:
                await app.close()
