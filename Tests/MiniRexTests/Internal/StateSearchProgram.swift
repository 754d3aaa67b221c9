import MiniRex

/// What a thread or a callback does to the source and its subscribers.
enum Operation: Hashable, Sendable, CustomStringConvertible {
  /// Broadcasts something; `set` is its counterpart for a published value.
  case send
  case set(Int)
  /// Sets the value under `modify`, which publishes without a comparison.
  case modify(Int)
  /// Subscribes the subscriber with that number, once.
  case subscribe(Int)
  /// Ends that subscriber's token, if it has been returned by now.
  case end(Int)
  case endAndWait(Int)
  case endSource
  /// Drops a reference to the source; the last of a program releases it.
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

/// A small program for the machine: who subscribes, and what each thread does.
struct Program: Hashable, Sendable, CustomStringConvertible {
  enum Kind: Hashable, Sendable {
    case broadcaster
    case value
  }

  struct Subscriber: Hashable, Sendable {
    /// What its first call during the program does.
    var reaction: [Operation] = []
    /// What the release of its callback does.
    var release: [Operation] = []
  }

  var kind: Kind
  var subscribers: [Subscriber]
  /// How many of them are subscribed before the threads start.
  var initial: Int
  var threads: [[Operation]]
  var patience: Int

  /// - Parameter late: The subscribers after the initial ones, which subscribe in the program.
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
    let people = subscribers.enumerated().map { index, subscriber in
      var text = index < initial ? "\(index)" : "late \(index)"
      if !subscriber.reaction.isEmpty { text += " calls \(subscriber.reaction)" }
      if !subscriber.release.isEmpty { text += " releases \(subscriber.release)" }
      return text
    }
    let limit = patience == Schedule.patience ? "" : ", patience \(patience)"
    return "\(kind) to \(people.joined(separator: "; "))\(limit): \(threads)"
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
