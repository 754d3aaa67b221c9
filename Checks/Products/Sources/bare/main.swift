import Synchronization

// What a program loads that uses concurrency and a lock, without MiniRex.
let count = Mutex(0)
await Task { count.withLock { $0 += 1 } }.value
print(count.withLock { $0 })
