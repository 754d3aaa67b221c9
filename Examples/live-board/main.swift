import Foundation
import MiniRex
import MiniRexFoundationAdapters

func fail(_ reason: String, status: Int32 = 1) -> Never {
  FileHandle.standardError.write(Data("\(reason)\n".utf8))
  exit(status)
}

guard let options = Options(CommandLine.arguments.dropFirst()) else {
  fail("usage: live-board [--port NUMBER] [--directory PATH] [--every SECONDS]", status: 2)
}
guard FileManager.default.fileExists(atPath: "\(options.directory)/.") else {
  fail("live-board: \(options.directory): no such directory")
}
guard let listener = Listener(port: options.port) else {
  fail("live-board: port \(options.port): \(unsafe String(cString: strerror(errno)))")
}
// A browser that has gone fails a write, and does not end the program.
signal(SIGPIPE, SIG_IGN)
let board = Board(options)
let serving = Task {
  await withDiscardingTaskGroup { group in
    for await connection in listener.connections.values(.unbounded) {
      group.addTask { await Visitor(connection).serve(board) }
    }
  }
}
DispatchSource.signals(SIGINT, SIGTERM).subscribeOnce { _ in serving.cancel() }
FileHandle.standardOutput.write(Data("live-board: http://127.0.0.1:\(listener.port)/\n".utf8))
await serving.value
