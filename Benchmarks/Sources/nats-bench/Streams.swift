#if NATS
import Bare
import Foundation
import MiniRex
import MiniRexNATS

func bareAppends(_ count: Int, size: Int, _ url: String) -> [Double] {
  var nanoseconds = [Int64](repeating: 0, count: count)
  _ = checked(
    Double(bare_appends(url, "bench-appends", Int64(count), Int32(size), &nanoseconds)))
  return nanoseconds.map { Double($0) }
}

/// Returns the nanoseconds of each append until an ordered consumer has received its message.
func bareConfirmations(_ count: Int, size: Int, _ url: String) -> [Double] {
  var nanoseconds = [Int64](repeating: 0, count: count)
  _ = checked(
    Double(
      bare_confirmations(url, "bench-confirmations", Int64(count), Int32(size), &nanoseconds)))
  return nanoseconds.map { Double($0) }
}

func bareAppendsInFlight(_ count: Int, size: Int, _ url: String) -> Double {
  checked(bare_appends_in_flight(url, "bench-appends", Int64(count), Int32(size)))
}

func barePuts(_ count: Int, size: Int, _ url: String) -> Double {
  checked(bare_puts(url, "bench-puts", Int64(count), Int32(size)))
}

/// The options of the stream that libnats creates.
private var appendOptions: NATSStreamOptions {
  var options = NATSStreamOptions()
  options.subjects = ["bench-appends"]
  return options
}

/// Returns the nanoseconds of each append, one after another.
func appends(_ count: Int, size: Int, _ url: String) async -> [Double] {
  let nats = await connection(url)
  let stream = nats.stream("bench-appends")
  finish(stream.create(appendOptions))
  let payload = Data(count: size)
  let times = (0..<count).map { _ in
    ContinuousClock().measure { finish(stream.append(payload)) } / .nanoseconds(1)
  }
  await nats.close()
  return times
}

/// Returns the seconds for appends that do not wait for each answer.
func appendsInFlight(_ count: Int, size: Int, _ url: String) async -> Double {
  // In C, the buffer has no limit. The window limits the messages here.
  let nats = await connection(url, sendLimit: 4 << 20)
  finish(nats.stream("bench-appends").create(appendOptions))
  let payloads = [Data](repeating: Data(count: size), count: count)
  let appending = nats.stream("bench-appends").append(
    contentsOf: payloads, window: 4_096, timeout: .seconds(60))
  let done = DispatchSemaphore(value: 0)
  let took = ContinuousClock().measure {
    let subscription = appending.subscribe { update in
      guard case .finished(let result) = update else { return }
      if case .failure(let error) = result { fatalError("\(error)") }
      done.signal()
    }
    done.wait()
    withExtendedLifetime(subscription) {}
  }
  await nats.close()
  return took / .seconds(1)
}

/// Returns the seconds for puts of one key, one after another.
func puts(_ count: Int, size: Int, _ url: String) async -> Double {
  let nats = await connection(url)
  let bucket = nats.bucket("bench-puts")
  finish(bucket.create())
  let payload = Data(count: size)
  let took = ContinuousClock().measure {
    for _ in 0..<count { finish(bucket.put(payload, for: "key")) }
  }
  await nats.close()
  return took / .seconds(1)
}

/// Blocks the thread until the task has its result.
func finish<Success: Sendable, Failure: Error>(_ task: PublishedTask<Success, Failure>) {
  let done = DispatchSemaphore(value: 0)
  let subscription = task.subscribe { result in
    if case .failure(let error) = result { fatalError("\(error)") }
    done.signal()
  }
  done.wait()
  withExtendedLifetime(subscription) {}
}
#endif
