import Foundation
import MiniRex
import MiniRexFoundationAdapters

/// The state of the page, combined from published values.
struct Board: Sendable {
  let browsers = PublishedProperty(0)
  /// Each event contains the entire state, so a browser needs only the newest event.
  let events: PublishedValue<Data>

  init(_ options: Options) {
    let changes = URL(filePath: options.directory).changes()
      .scan(Changes()) { $0.adding($1) }.publishedValue(initial: Changes())
    // On a queue, because reading files blocks, and tasks must not block.
    let samples = DispatchQueue(label: "samples").broadcaster(every: .seconds(options.interval))
      .map { _ in Sample(changes: changes.current()?.count ?? 0) }
      .scan([Sample(changes: 0)]) { ($0 + [$1]).suffix(121) }
      .publishedValue(initial: [Sample(changes: 0)])
    // Ten events per second are enough for a reader. Each is encoded once for all browsers.
    events = combineLatest(browsers.publisher, changes, samples) {
      Snapshot(options: options, browsers: $0, changes: $1, samples: $2)
    }
    .throttle(for: .milliseconds(100), latest: true, clock: ContinuousClock())
    .map { Data("data: ".utf8) + ((try? JSONEncoder().encode($0)) ?? Data()) + Data("\n\n".utf8) }
    .share()
  }

  /// The events for one more browser.
  var watched: Broadcaster<Data> {
    Broadcaster { [browsers, events] receive in
      browsers.modify { $0 += 1 }
      let subscription = events.subscribe(receive)
      return Subscription {
        subscription.invalidate()
        browsers.modify { $0 -= 1 }
      }
    }
  }
}

private struct Snapshot: Encodable, Equatable, Sendable {
  let options: Options
  let browsers: Int
  let changes: Changes
  let samples: [Sample]
}
