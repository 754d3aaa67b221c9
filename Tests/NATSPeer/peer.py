"""Another NATS client, which exchanges data of all four kinds with the bridge."""

import asyncio
import json
import sys

import nats


async def main(url):
    client = await nats.connect(url)
    stream = client.jetstream()
    done = asyncio.get_running_loop().create_future()

    # A broadcaster: each number returns incremented, with its header.
    async def add_one(message):
        reading = json.loads(message.data)
        reading["celsius"] += 1
        headers = {"Trace": message.headers["Trace"] + " and back"}
        await client.publish("to.swift", json.dumps(reading).encode(), headers=headers)

    # A task.
    async def double(message):
        await message.respond(str(int(message.data) * 2).encode())

    async def end(message):
        done.set_result(None)

    await client.subscribe("to.python", cb=add_one)
    await client.subscribe("python.double", cb=double)
    await client.subscribe("python.end", cb=end)

    report = {}
    answer = await client.request("swift.double", b"21", timeout=60)
    report["task"] = answer.data.decode()
    answer = await client.request("swift.steps", b"3", timeout=60)
    report["progressive"] = answer.data.decode()
    answer = await client.request("swift.refusing", b"1", timeout=60)
    report["refusal"] = answer.headers["Nats-Service-Error-Code"] + answer.headers["Nats-Service-Error"]

    # A published value.
    bucket = await stream.key_value("config")
    entry = await bucket.get("theme")
    report["value"] = entry.value.decode()
    await bucket.put("count", b"7")
    await bucket.update("theme", b"light", last=entry.revision)

    # A stream.
    numbers = await stream.subscribe("board", ordered_consumer=True)
    report["stream"] = [int((await numbers.next_msg(timeout=60)).data) for _ in range(3)]
    await stream.publish("board", b"4", headers={"From": "python"})

    await client.publish("report", json.dumps(report).encode())
    await done
    await client.flush()
    await client.close()


asyncio.run(main(sys.argv[1]))
