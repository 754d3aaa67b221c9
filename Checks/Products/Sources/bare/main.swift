import Synchronization

// A program with concurrency and a lock but without MiniRex, for comparison.
let count = Mutex(0)
await Task { count.withLock { $0 += 1 } }.value
print(count.withLock { $0 })
