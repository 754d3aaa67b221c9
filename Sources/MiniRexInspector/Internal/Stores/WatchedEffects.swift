internal import Foundation
internal import MiniRex
internal import MiniRexStore

/// Records the beginnings and ends of a store's effects.
///
/// Thread-safe. The delivering thread of the store only queues them. The inspector's queue computes
/// the names and writes the log.
final class WatchedEffects: Sendable {
  private struct Event: Sendable {
    let run: EffectRun
    /// The reason of the end, or `nil` if the effect began.
    var end: EffectEnd?
    let date = Date()
  }

  private struct Waiting: Sendable {
    var events: [Event] = []
    /// A Boolean value that indicates whether the queue was full.
    var areEventsLost = false
  }

  private let waiting = Lock(Waiting())
  private let recorded: Lock<EffectLog>
  private let queue: DispatchQueue
  private let limits: (spans: Int, waiting: Int)
  /// Returns the unfinished effects, up to a limit.
  private let read: @Sendable (Int) -> [EffectStatus]

  init(
    _ queue: DispatchQueue, _ settings: Settings, read: @escaping @Sendable (Int) -> [EffectStatus]
  ) {
    self.queue = queue
    self.read = read
    limits = (settings.spans, settings.waitingEffects)
    recorded = Lock(EffectLog(limit: settings.spans))
  }

  var log: EffectLog { recorded.withLock { $0 } }

  func take(_ event: StoreEvent<some Sendable, some Sendable>) {
    switch event {
    case .committed: break
    case .began(let run): take(Event(run: run))
    case .ended(let run, let end, after: _): take(Event(run: run, end: end))
    }
  }

  private func take(_ event: Event) {
    let isFirst = waiting.withLock { waiting in
      if waiting.events.count == limits.waiting {
        waiting.areEventsLost = true
        return false
      }
      waiting.events.append(event)
      return waiting.events.count == 1
    }
    if isFirst { queue.async { [weak self] in self?.record() } }
  }

  /// Compares the log with the unfinished effects, because events were missed.
  ///
  /// Runs on the queue.
  func compare() {
    record()
    let date = Date()
    let unfinished = read(limits.spans)
    let lines = unfinished.map { WatchedStore.EffectLine($0, at: date) }
    recorded.withLock { log in
      for line in lines {
        guard let start = line.start else { continue }
        log.begin(line.number, line.name, commit: line.commit, at: start)
      }
      if lines.count < limits.spans {
        log.endAll(except: Set(lines.map(\.number)), at: date.timeIntervalSince1970)
      }
    }
  }

  /// Writes the queued beginnings and ends to the log.
  ///
  /// Runs on the queue.
  private func record() {
    let waiting = waiting.withLock { waiting in
      defer { waiting = Waiting() }
      return waiting
    }
    // The names and errors are user code, so they are described outside the lock.
    let lines = waiting.events.map { event in
      (
        event.run, event.run.name.map { shortened($0, to: 200) },
        event.end.map { describe($0) },
        event.date.roundedTime
      )
    }
    recorded.withLock { log in
      for (run, name, end, time) in lines {
        if let end {
          log.end(run.number, end, at: time)
        } else {
          log.begin(run.number, name, commit: run.commit, at: time)
        }
      }
    }
    if waiting.areEventsLost { compare() }
  }
}

private func describe(_ end: EffectEnd) -> String {
  switch end {
  case .finished: "finished"
  case .cancelled: "canceled"
  case .failed(let error): "failed: \(shortened("\(error)", to: 200))"
  }
}
