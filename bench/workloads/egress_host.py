"""An HTTPS host that answers every request with a kilobyte: `python egress_host.py CERTIFICATE` prints its port."""

import asyncio
import ssl
import sys

import uvloop

ANSWER = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n" + b"x" * 1000


class Answering(asyncio.Protocol):
    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = transport
        self.data = b""

    def data_received(self, data: bytes) -> None:
        self.data += data
        while b"\r\n\r\n" in self.data:
            _, self.data = self.data.split(b"\r\n\r\n", 1)
            self.transport.write(ANSWER)  # type: ignore[attr-defined]


async def main() -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(sys.argv[1])
    server = await asyncio.get_running_loop().create_server(Answering, "127.0.0.1", 0, ssl=context)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    uvloop.run(main())
