import Foundation
import MiniRex
import MiniRexFoundationAdapters
import MiniRexStore

/// Prints the board after each change, and executes commands from standard input until it ends.
func useTerminal(_ makeSession: () -> Session, atEnd: () -> Void) async {
  let showing: Task<Void, Never>
  do {
    let session = makeSession()
    let answers = BroadcastSource<String>()
    // Print nothing before the first search.
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
    // Commands refer to cards, so read them after the first search.
    for await _ in boards.values(.unbounded) { break }
    // The last line may lack a newline.
    let input = DispatchSource.reads(from: STDIN_FILENO).compactMap { try? $0.get() }
      .append(.sequence([Data("\n".utf8)])).scan(Lines()) { $0.adding($1) }
    reading: for await lines in input.values(.unbounded) {
      for line in lines.whole where !line.isEmpty {
        switch await session.obey(line) {
        case .done, .added: continue
        case .text(let text), .refused(let text): answers.broadcast(text)
        case .quit: break reading
        }
      }
    }
    atEnd()
  }
  // Print all queued texts before returning.
  await showing.value
}
