/// What threads, reducer, callback and effects do in one search.
///
/// Actions are numbered; what is asked of them is told by number, so that a state needs no closure.
struct StoreProgram {
  /// The actions that each thread sends, one after the other.
  var threads: [[Int]]
  /// What the reducer of an action sends, one after the other.
  var nested: [Int: [Int]] = [:]
  /// What the reducer of an action returns, to be sent after that.
  var returned: [Int: Int] = [:]
  /// What the effect of an action sends, inside its beginning.
  var effects: [Int: Int] = [:]
  /// What the subscriber sends, once, in its call for the commit with this number.
  var reactions: [Int: Int] = [:]

  /// Every action is committed once.
  var count: Int {
    threads.joined().count + nested.values.joined().count + returned.count + effects.count
      + reactions.count
  }
}

extension StoreProgram {
  /// Three threads send three actions each; more come from reducers, a callback and effects, one of
  /// which starts another inside its beginning.
  static let all = [
    StoreProgram(
      threads: [[0, 1, 2], [3, 4, 5], [6, 7, 8]], nested: [1: [9]], reactions: [2: 10]),
    StoreProgram(
      threads: [[0, 1, 2], [3, 4, 5], [6, 7, 8]], nested: [9: [10]], effects: [4: 9],
      reactions: [5: 11]),
    StoreProgram(
      threads: [[0, 1, 2], [3, 4, 5], [6, 7, 8]], nested: [0: [9], 9: [12]],
      effects: [9: 10, 10: 11]),
    StoreProgram(
      threads: [[0, 1], [2, 3]], nested: [0: [4], 5: [6]], effects: [0: 5, 5: 7, 3: 8],
      reactions: [3: 9, 4: 10]),
    // A reducer sends two, one of which sends and returns more, and returns a third.
    StoreProgram(
      threads: [[0, 1], [2]], nested: [0: [3, 4], 3: [5], 2: [10]], returned: [0: 6, 3: 7, 7: 8],
      effects: [7: 9]),
  ]
}
