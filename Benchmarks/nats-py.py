#!/usr/bin/env python3
"""Measures nats-py as nats-bench measures the bridge, and prints one JSON object: python3 nats-py.py URL [--brief]"""

import asyncio
import json
import statistics
import sys
import time

import nats


async def messages(url, count, size):
    sender, receiver = await nats.connect(url), await nats.connect(url)
    left, done, payload = count, asyncio.Event(), bytes(size)

    async def count_down(_):
        nonlocal left
        left -= 1
        if not left:
            done.set()

    await receiver.subscribe("py", cb=count_down, pending_msgs_limit=-1, pending_bytes_limit=-1)
    await receiver.flush()
    began = time.perf_counter()
    for number in range(count):
        await sender.publish("py", payload)
        # Without it, the receiver would have no time, because it has the same thread.
        if number % 500 == 0:
            await asyncio.sleep(0)
    await done.wait()
    seconds = time.perf_counter() - began
    await sender.close()
    await receiver.close()
    return count / seconds


async def microseconds(count, operation):
    times = []
    for _ in range(count):
        began = time.perf_counter()
        await operation()
        times.append((time.perf_counter() - began) * 1e6)
    return times


async def requests(url, count):
    asking, answering = await nats.connect(url), await nats.connect(url)

    async def answer(message):
        await message.respond(message.data)

    await answering.subscribe("py.echo", cb=answer)
    await answering.flush()
    times = await microseconds(count, lambda: asking.request("py.echo", bytes(16), timeout=5))
    await asking.close()
    await answering.close()
    return sorted(times)


async def streams(url, brief):
    connection = await nats.connect(url)
    stream = connection.jetstream()
    await stream.add_stream(name="py-appends", subjects=["py-appends"])
    payload = bytes(128)
    appends = await microseconds(100 if brief else 2_000, lambda: stream.publish("py-appends", payload))
    count = 500 if brief else 20_000
    began = time.perf_counter()
    for _ in range(0, count, 500):
        await asyncio.gather(*(stream.publish("py-appends", payload) for _ in range(500)))
    in_flight = count / (time.perf_counter() - began)
    bucket = await stream.create_key_value(bucket="py-puts")
    puts = await microseconds(100 if brief else 2_000, lambda: bucket.put("key", payload))
    await connection.close()
    return statistics.median(appends), in_flight, len(puts) / sum(puts) * 1e6


async def main(url, brief):
    part = 20 if brief else 1
    rounds = 1 if brief else 3
    figures = {}
    for size, count in ((16, 60_000), (1_024, 30_000)):
        figures[f"messages {size}"] = [await messages(url, count // part, size) for _ in range(rounds)]
    times = [await requests(url, 3_000 // part) for _ in range(rounds)]
    figures["request p50"] = [statistics.median(one) for one in times]
    figures["request p99"] = [one[len(one) * 99 // 100] for one in times]
    results = [await streams(url, brief) for _ in range(rounds)]
    for name, values in zip(("append p50", "appends", "puts"), zip(*results)):
        figures[name] = list(values)
    print(json.dumps(figures))


asyncio.run(main(sys.argv[1], "--brief" in sys.argv))
