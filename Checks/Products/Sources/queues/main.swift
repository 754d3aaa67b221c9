import Dispatch
import MiniRex
import MiniRexDispatchAdapters

// The frame of a server: a queue, a timer, a signal that stops it, and a loop.
let source = BroadcastSource<Int>()
let queue = DispatchQueue(label: "queue")
let onQueue = source.publisher.receive(on: queue).subscribe { print($0) }
let late = source.publisher.subscribe(on: queue).subscribe { print($0) }
let beat = queue.broadcaster(every: .seconds(3600)).subscribe { print($0) }
let stop = DispatchSource.signals(15).values(.bufferingNewest(1))
source.broadcast(1)
let loop = Task { for await number in stop { print(number) } }
loop.cancel()
await loop.value
beat.invalidate()
