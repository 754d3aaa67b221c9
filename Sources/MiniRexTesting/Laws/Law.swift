/// The delivery rules that the publisher of somebody else can break, by their numbers.
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
    case .serial: "The calls of one subscription never overlap."
    case .order: "All subscribers get every update once, and in the same order."
    case .reentrancy: "An update sent by a callback waits until everybody has the current one."
    case .registration: "Subscribers are called in the order in which they subscribed."
    case .joining: "A subscriber gets exactly what is sent after it has subscribed."
    case .invalidate: "No callback starts after invalidate()."
    case .invalidateAndWait: "After invalidateAndWait() no callback runs."
    case .once: "Ending a subscription waits for nothing, and leaves all others alone."
    case .free: "A callback may send, subscribe, end and read."
    case .release: "The callback and what it has captured are released with the subscription."
    case .drop: "Dropping the token ends the subscription, and leaves what it subscribes to."
    case .afterEnd: "After the end nobody is called, and nothing is kept."
    case .gap: "Between the first value and the changes is no gap and no duplicate."
    case .agreement: "When everything is quiet, the last update equals the value."
    case .oneResult: "A task delivers one result, after its progress, also to latecomers."
    case .newRun:
      "When the last subscriber has left an unfinished task, the next one starts it anew."
    case .sender: "Whoever sends, subscribes or ends is not held up."
    case .end: "The end is told once, after the last update."
    case .promise: "A published value calls once with its value, and then with changes."
    }
  }
}
