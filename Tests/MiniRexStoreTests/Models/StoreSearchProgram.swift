import TestSupport

/// The threads, reducer, callback, and effects of one search.
///
/// Actions are numbers and behavior is looked up by number, so a state needs no closure.
struct StoreProgram {
  /// The actions that each thread sends in sequence.
  var threads: [[Int]]
  /// The actions that the reducer of an action sends in sequence.
  var nested: [Int: [Int]] = [:]
  /// The action that the reducer of an action returns.
  var returned: [Int: Int] = [:]
  /// The action that the effect of an action sends during its start.
  var effects: [Int: Int] = [:]
  /// The action that the subscriber sends once, in its callback for the commit with this number.
  var reactions: [Int: Int] = [:]

  /// Every action is committed once.
  var count: Int {
    threads.joined().count + nested.values.joined().count + returned.count + effects.count
      + reactions.count
  }
}

extension StoreProgram {
  /// Three threads that send two actions each, and three in `Scripts/soak`.
  private static let three = [[0, 1, 2], [3, 4, 5], [6, 7, 8]].map {
    Array($0.prefix(scale > 1 ? 3 : 2))
  }

  /// Programs in which reducers, a callback, and effects send more actions.
  ///
  /// One effect starts another during its start.
  static let all = [
    StoreProgram(threads: three, nested: [1: [9]], reactions: [2: 10]),
    StoreProgram(threads: three, nested: [9: [10]], effects: [4: 9], reactions: [5: 11]),
    StoreProgram(threads: three, nested: [0: [9], 9: [12]], effects: [9: 10, 10: 11]),
    StoreProgram(
      threads: [[0, 1], [2, 3]], nested: [0: [4], 5: [6]], effects: [0: 5, 5: 7, 3: 8],
      reactions: [3: 9, 4: 10]),
    // A reducer sends two actions and returns a third. One of the sent actions also sends and
    // returns actions.
    StoreProgram(
      threads: [[0, 1], [2]], nested: [0: [3, 4], 3: [5], 2: [10]], returned: [0: 6, 3: 7, 7: 8],
      effects: [7: 9]),
  ]
}
