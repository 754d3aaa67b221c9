"""Another NATS client, which creates a bucket and a stream with its defaults, and exchanges dates and data."""

import asyncio
import base64
import datetime
import json
import sys

import nats


async def main(url):
    client = await nats.connect(url)
    stream = client.jetstream()
    await stream.create_key_value(bucket="config")
    await stream.add_stream(name="board", subjects=["board", "board.>"], description="made in Python")
    messages = await stream.subscribe("board", ordered_consumer=True)
    await client.publish("made", b"")

    event = json.loads((await messages.next_msg(timeout=60)).data)
    date = datetime.datetime.fromisoformat(event["date"])
    report = {"time": date.timestamp(), "bytes": list(base64.b64decode(event["data"]))}
    await client.publish("report", json.dumps(report).encode())

    zone = datetime.timezone(datetime.timedelta(hours=2))
    date = datetime.datetime(2026, 11, 23, 22, 15, 35, 250_000, tzinfo=zone)
    event = {"date": date.isoformat(), "data": base64.b64encode(b"\x00\xff").decode()}
    await stream.publish("board", json.dumps(event).encode())
    await client.close()


asyncio.run(main(sys.argv[1]))
