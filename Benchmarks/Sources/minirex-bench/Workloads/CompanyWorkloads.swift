import Foundation
import MiniRex
import MiniRexJournal
import MiniRexStore

/// In the order of the table.
///
/// Larger goals are for state that all users of the process share: the number of batches in delivery
/// for `together`, the change clock and the numbers of runs for `current`, the pool of tasks for
/// `effect`, and the file system for `journal`.
var companyWorkloads: [CompanyWorkload] {
  [
    CompanyWorkload("send", 1.3) {
      let source = opaque(BroadcastSource<Int>())
      let acc = Acc()
      let token = source.publisher.subscribe { acc.add($0) }
      return { k in withExtendedLifetime(token) { for i in 0..<k { source.broadcast(i) } } }
    },
    CompanyWorkload("subscribe", 1.3) {
      let source = opaque(BroadcastSource<Int>())
      let acc = Acc()
      return { k in
        for i in 0..<k { source.publisher.subscribe { acc.add($0 &+ i) }.invalidate() }
      }
    },
    CompanyWorkload("combineLatest", 1.3) {
      let (a, b) = (PublishedProperty(0), PublishedProperty(0))
      let acc = Acc()
      let token = combineLatest(a.publisher, b.publisher).subscribe { acc.add($0 &+ $1) }
      return { k in withExtendedLifetime((token, b)) { for i in 0..<k { a.value = i } } }
    },
    CompanyWorkload("together", 1.6) {
      let (a, b) = (PublishedProperty(0), PublishedProperty(0))
      let acc = Acc()
      let token = combineLatest(a.publisher, b.publisher).subscribe { acc.add($0 &+ $1) }
      return { k in
        withExtendedLifetime(token) {
          for i in 0..<k {
            together { set in
              set(a, to: i)
              set(b, to: i)
            }
          }
        }
      }
    },
    CompanyWorkload("computed", 1.3) {
      let (leaves, sum) = thousandLeaves()
      let acc = Acc()
      let token = sum.subscribe { acc.add($0) }
      var next = 0
      return { k in
        for _ in 0..<k {
          next += 1
          leaves[next % leaves.count].value = next
        }
        withExtendedLifetime(token) {}
      }
    },
    CompanyWorkload("current", 1.6) {
      let (leaves, sum) = thousandLeaves()
      let acc = Acc()
      var next = 0
      return { k in
        for _ in 0..<k {
          next += 1
          leaves[next % leaves.count].value = next
          acc.add(sum.current() ?? 0)
        }
      }
    },
    CompanyWorkload("query", 1.3) {
      let store = opaque(cardBoard(1_000))
      let acc = Acc()
      let token = store.live(\.cards).filter { !$0.isDone }.sorted(by: \.rank).updates.subscribe {
        if case .changes(let changes) = $0 { acc.add(changes.count) }
      }
      var round = 0
      return { k in
        for _ in 0..<k {
          store.send(.rank(round &* 7919 % 1_000, round % 1_000))
          round += 1
        }
        withExtendedLifetime(token) {}
      }
    },
    CompanyWorkload("effect", 1.6) {
      let store = opaque(
        Store(0) { (state: inout Int, action: Int) in
          state &+= action
          return .run { _ in }
        })
      return { k in
        for i in 0..<k {
          let task = store.send(1)
          // The tasks must not pile up.
          if i % 64 == 63 { blocking { try? await task.finished() } }
        }
      }
    },
    CompanyWorkload("journal", 1.6) {
      let (journal, store, token) = recording(snapshotEvery: 0)
      let actions = (0..<1_000).map(accountAction)
      return { k in
        for i in 0..<k { store.send(actions[i % 1_000]) }
        withExtendedLifetime((journal, token)) {}
      }
    },
  ]
}

/// A sum of a thousand properties, by three layers of ten.
private func thousandLeaves() -> ([PublishedProperty<Int>], PublishedValue<Int>) {
  let leaves = (0..<1_000).map { PublishedProperty($0) }
  var level = leaves.map(\.publisher)
  while level.count > 1 {
    level = stride(from: 0, to: level.count, by: 10).map { start in
      let part = level[start..<start + 10]
      return .computed { read in part.reduce(0) { $0 &+ read($1) } }
    }
  }
  return (leaves, level[0])
}
