"""A NATS client made of nats-py, which knows nothing of a fleet, driven by lines of JSON: nats_reader.py ADDRESS PORT."""

import asyncio
import json
import sys

import nats

from line_server import serve

address, port = sys.argv[1:3]
loop = asyncio.new_event_loop()
client = loop.run_until_complete(nats.connect(f"nats://{address}:{port}"))


async def _services(count):
    inbox = client.new_inbox()
    answers = await client.subscribe(inbox)
    await client.publish("$SRV.INFO", b"", reply=inbox)
    try:
        return [json.loads((await answers.next_msg(timeout=10)).data) for _ in range(count)]
    finally:
        await answers.unsubscribe()


def services(count):
    """The first so many answers to the request by which tools list services (ADR-32)."""
    return loop.run_until_complete(_services(count))


async def _messages(subject, subjects):
    newest = {}
    messages = await client.subscribe(subject)
    try:
        while len(newest) < subjects:
            message = await messages.next_msg(timeout=10)
            newest[message.subject] = json.loads(message.data)
        return newest
    finally:
        await messages.unsubscribe()


def messages(subject, subjects):
    """The newest JSON message by its subject, once so many subjects have had one."""
    return loop.run_until_complete(_messages(subject, subjects))


serve({"services": services, "messages": messages})
