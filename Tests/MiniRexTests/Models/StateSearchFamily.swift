import MiniRex

/// Families of programs that differ in the operations of their threads.
extension Program {
  /// Returns all programs of the given number of threads, each with `length` operations of the
  /// alphabet.
  ///
  /// Threads are interchangeable, so only one of the programs that differ in the order of their
  /// threads is included. Each `subscribe`, in callbacks as well, gets the number of the next late
  /// subscriber.
  static func all(
    _ kind: Kind, _ initial: [Subscriber], late: Subscriber = .plain,
    patience: Int = Schedule.patience, threads: Int, of length: Int, from alphabet: [Operation]
  ) -> [Program] {
    var sequences: [[Operation]] = [[]]
    for _ in 0..<length {
      sequences = sequences.flatMap { start in alphabet.map { start + [$0] } }
    }
    return multisets(of: sequences, threads).map {
      numbered(kind, initial, late, patience, $0)
    }
  }

  /// Returns all programs of two threads that perform the given operations in any order.
  static func orders(
    _ kind: Kind, _ initial: [Subscriber], late: Subscriber = .plain,
    patience: Int = Schedule.patience, _ one: [Operation], _ other: [Operation]
  ) -> [Program] {
    var seen: Set<Program> = []
    return permutations(of: one).flatMap { one in
      permutations(of: other).map { numbered(kind, initial, late, patience, [one, $0]) }
    }
    .filter { seen.insert($0).inserted }
  }

  private static func numbered(
    _ kind: Kind, _ initial: [Subscriber], _ late: Subscriber, _ patience: Int,
    _ threads: [[Operation]]
  ) -> Program {
    var next = initial.count
    func number(_ operations: [Operation]) -> [Operation] {
      operations.map { operation in
        guard case .subscribe = operation else { return operation }
        defer { next += 1 }
        return .subscribe(next)
      }
    }
    let initial = initial.map { subscriber in
      Subscriber(
        reaction: number(subscriber.reaction), release: number(subscriber.release))
    }
    let threads = threads.map(number)
    // An operation may name a late subscriber that never joins.
    let others = Array(repeating: late, count: max(1, next - initial.count))
    return Program(kind, initial, late: others, patience: patience, threads: threads)
  }
}

private func multisets<Element>(of elements: [Element], _ count: Int) -> [[Element]] {
  if count == 0 { return [[]] }
  return elements.indices.flatMap { index in
    multisets(of: Array(elements[index...]), count - 1).map { [elements[index]] + $0 }
  }
}

private func permutations<Element>(of elements: [Element]) -> [[Element]] {
  guard let first = elements.first else { return [[]] }
  return permutations(of: Array(elements.dropFirst())).flatMap { rest in
    (0...rest.count).map { rest[..<$0] + [first] + rest[$0...] }
  }
}
