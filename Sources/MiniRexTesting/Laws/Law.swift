/// The delivery rules that a custom publisher can break, by number.
enum Law: Int {
  case serial = 1
  case order = 2
  case reentrancy = 3
  case registration = 4
  case joining = 5
  case invalidate = 6
  case invalidateAndWait = 7
  case once = 8
  case free = 9
  case release = 11
  case drop = 12
  case afterEnd = 13
  case gap = 14
  case agreement = 16
  case oneResult = 18
  case newRun = 19
  case sender = 24
  case end = 26
  case promise = 28

  var name: String { "R\(rawValue)" }

  var words: String {
    switch self {
    case .serial: "Callbacks of one subscription never overlap."
    case .order: "All subscribers receive each update once, in the same order."
    case .reentrancy: "A re-entrant send waits until every subscriber has the current update."
    case .registration: "An update is delivered in the order of subscription."
    case .joining: "A subscriber receives exactly the updates sent after it subscribes."
    case .invalidate: "No callback starts after invalidate()."
    case .invalidateAndWait: "No callback runs after invalidateAndWait()."
    case .once: "Canceling a subscription never waits, and affects no other subscription."
    case .free: "A callback may send, subscribe, cancel, and read."
    case .release: "The callback and its captures are released with the subscription."
    case .drop: "Releasing the subscription cancels it and its upstream subscriptions."
    case .afterEnd: "After the end, no callback runs, and every callback is released."
    case .gap: "The first value and the changes have no gap and no duplicate."
    case .agreement: "With no update pending, the last update equals the current value."
    case .oneResult: "A task delivers one result after its progress, also to late subscribers."
    case .newRun:
      "Without a subscriber an unfinished task stops, and the next subscriber restarts it."
    case .sender: "Sending, subscribing, and canceling never block."
    case .end: "The end is delivered once, after the last update."
    case .promise: "A published value emits its current value once, and then changes."
    }
  }
}
