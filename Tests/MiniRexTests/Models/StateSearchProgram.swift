import MiniRex

/// An operation of a thread or a callback on the source and its subscribers.
enum Operation: Hashable, Sendable, CustomStringConvertible {
  /// Broadcasts an update.
  ///
  /// The counterpart for a published value is `set`.
  case send
  case set(Int)
  /// Sets the value in `modify`, which publishes without a comparison.
  case modify(Int)
  /// Subscribes the subscriber with the given number, at most once in a program.
  case subscribe(Int)
  /// Cancels the subscription of the subscriber, if `subscribe` has returned it.
  case end(Int)
  case endAndWait(Int)
  case endSource
  /// Releases one reference to the source.
  ///
  /// The last release in a program deallocates it.
  case releaseSource

  var description: String {
    switch self {
    case .send: "send"
    case .set(let value): "set \(value)"
    case .modify(let value): "modify \(value)"
    case .subscribe(let subscriber): "subscribe \(subscriber)"
    case .end(let subscriber): "end \(subscriber)"
    case .endAndWait(let subscriber): "end and wait \(subscriber)"
    case .endSource: "end source"
    case .releaseSource: "release source"
    }
  }
}

/// A small program for the model: the subscribers, and the operations of each thread.
struct Program: Hashable, Sendable, CustomStringConvertible {
  enum Kind: Hashable, Sendable {
    case broadcaster
    case value
  }

  struct Subscriber: Hashable, Sendable {
    /// The operations of its first call during the program.
    var reaction: [Operation] = []
    /// The operations in the release of its callback.
    var release: [Operation] = []
  }

  var kind: Kind
  var subscribers: [Subscriber]
  /// The number of subscribers that join before the threads start.
  var initial: Int
  var threads: [[Operation]]
  var patience: Int

  /// - Parameter late: The subscribers that join during the program.
  init(
    _ kind: Kind, _ initial: [Subscriber], late: [Subscriber] = [],
    patience: Int = Schedule.patience,
    threads: [[Operation]]
  ) {
    self.kind = kind
    self.subscribers = initial + late
    self.initial = initial.count
    self.patience = patience
    self.threads = threads
  }

  var references: Int {
    let all = threads.joined() + subscribers.flatMap { $0.reaction + $0.release }
    return all.count { $0 == .releaseSource }
  }

  var description: String {
    let descriptions = subscribers.enumerated().map { index, subscriber in
      var text = index < initial ? "\(index)" : "late \(index)"
      if !subscriber.reaction.isEmpty { text += " calls \(subscriber.reaction)" }
      if !subscriber.release.isEmpty { text += " releases \(subscriber.release)" }
      return text
    }
    let limit = patience == Schedule.patience ? "" : ", patience \(patience)"
    return "\(kind) to \(descriptions.joined(separator: "; "))\(limit): \(threads)"
  }
}

extension Program.Subscriber {
  static let plain = Program.Subscriber()

  static func reacting(_ reaction: Operation...) -> Program.Subscriber {
    Program.Subscriber(reaction: reaction)
  }

  static func releasing(_ release: Operation...) -> Program.Subscriber {
    Program.Subscriber(release: release)
  }
}
