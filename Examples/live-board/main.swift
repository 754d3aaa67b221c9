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
signal(SIGPIPE, SIG_IGN)  // A browser that has gone fails a write, and does not end the program.
let serving = Task {
  await withDiscardingTaskGroup { group in
    let board = Board(options)
    for await connection in listener.connections.values(.unbounded) {
      group.addTask { await Visitor(connection).serve(board) }
    }
  }
  exit(0)
}
DispatchSource.signals(SIGINT, SIGTERM).subscribeOnce { _ in serving.cancel() }
print("live-board: http://127.0.0.1:\(listener.port)/")
fflush(nil)
dispatchMain()  // Top-level code that awaits would leak what it has computed, in debug builds.
