import Foundation
import MiniRex
import MiniRexFoundationAdapters
import MiniRexStore

/// Prints the board after each change, and does what standard input says, until that ends.
func useTerminal(_ makeSession: () -> Session, atEnd: () -> Void) async {
  let showing: Task<Void, Never>
  do {
    let session = makeSession()
    let answers = BroadcastSource<String>()
    // Nothing is shown before the folder has been looked into.
    let boards = session.store.publisher.broadcaster.filter { !$0.folders.isEmpty }
    let pictures = boards.map(\.picture).removeDuplicates()
    let texts = merge(pictures, answers.publisher).values(.unbounded)
    showing = Task {
      for await text in texts {
        print(text)
        fflush(nil)
      }
    }
    session.store.send(.look)
    // Commands name cards, so they wait until there are some.
    for await _ in boards.values(.unbounded) { break }
    // The last line needs no end.
    let input = DispatchSource.reads(from: STDIN_FILENO).compactMap { try? $0.get() }
      .append(.sequence([Data("\n".utf8)])).scan(Lines()) { $0.adding($1) }
    reading: for await lines in input.values(.unbounded) {
      for line in lines.whole where !line.isEmpty {
        switch await session.obey(line) {
        case .done: continue
        case .text(let text), .refused(let text): answers.broadcast(text)
        case .quit: break reading
        }
      }
    }
    atEnd()
  }
  // What the store and the answers have told before they went is still to be shown.
  await showing.value
}
