import Foundation
import MiniRex
import MiniRexFoundationAdapters

/// What the page shows, of published values that are combined to one.
struct Board: Sendable {
  let browsers = PublishedProperty(0)
  /// Each event tells everything, so that who has missed some needs only the latest.
  let events: PublishedValue<Data>

  init(_ options: Options) {
    let changes = URL(filePath: options.directory).changes()
      .scan(Changes()) { $0.adding($1) }.publishedValue(initial: Changes())
    // On a queue, which may wait for the files that are read, as a Swift task may not.
    let samples = DispatchQueue(label: "samples").broadcaster(every: .seconds(options.interval))
      .map { _ in Sample(changes: changes.current()?.count ?? 0) }
      .scan([Sample(changes: 0)]) { ($0 + [$1]).suffix(121) }
      .publishedValue(initial: [Sample(changes: 0)])
    // A thousand changes a second are no more to look at than ten, encoded once for all browsers.
    events = combineLatest(browsers.publisher, changes, samples) {
      Snapshot(options: options, browsers: $0, changes: $1, samples: $2)
    }
    .throttle(for: .milliseconds(100), latest: true, clock: ContinuousClock())
    .map { Data("data: ".utf8) + ((try? JSONEncoder().encode($0)) ?? Data()) + Data("\n\n".utf8) }
    .share()
  }

  /// The events, for one more browser.
  var watched: Broadcaster<Data> {
    Broadcaster { [browsers, events] receive in
      browsers.modify { $0 += 1 }
      let token = events.subscribe(receive)
      return Subscription {
        token.invalidate()
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
