import Foundation
import MiniRex
import MiniRexFoundationAdapters
import MiniRexStore

func fail(_ reason: String) -> Never {
  FileHandle.standardError.write(Data("\(reason)\n".utf8))
  exit(2)
}

func show(_ text: String) {
  print(text)
  fflush(nil)
}

let arguments = Array(CommandLine.arguments.dropFirst())
guard arguments.count == 3, arguments[0] == "--terminal", arguments[1] == "--directory" else {
  fail("usage: issue-board --terminal --directory PATH")
}
let directory = URL(filePath: arguments[2]).standardizedFileURL
guard FileManager.default.fileExists(atPath: "\(directory.path)/.") else {
  fail("issue-board: \(arguments[2]): no such directory")
}

let serving = Task {
  let store = Store(
    Board(), reducer: board(Outside(directory, clock: ContinuousClock())))
  // Nothing is shown before the folder has been looked into.
  let pictures = store.publisher.dropFirst().map(\.picture).removeDuplicates()
  let showing = pictures.subscribe { show($0) }
  store.send(.look)
  let input = DispatchSource.reads(from: STDIN_FILENO).compactMap { try? $0.get() }
    .scan(Lines()) { $0.adding($1) }
  for await lines in input.values(.unbounded) {
    for line in lines.whole {
      switch Command(line, on: store.state) {
      case .action(let action): store.send(action)
      case .list: show(store.state.picture)
      case .refused(let advice): show(advice)
      case .quit: exit(0)
      }
    }
  }
  withExtendedLifetime((store, showing)) {}
  exit(0)
}
DispatchSource.signals(SIGINT, SIGTERM).subscribeOnce { _ in serving.cancel() }
dispatchMain()
