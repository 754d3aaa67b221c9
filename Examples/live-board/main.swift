import Foundation
import MiniRex
import MiniRexFoundationAdapters
import MiniRexPageServer

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
guard let server = PageServer(port: options.port) else {
  fail("live-board: port \(options.port): \(unsafe String(cString: strerror(errno)))")
}
let serving = Task {
  let board = Board(options)
  await server.serve { request in
    switch (request.method, request.path) {
    case ("GET", "/"): .page(Data(PackageResources.page_html))
    // A slow browser misses events. The board and other browsers do not wait for it.
    case ("GET", "/events"): .events(board.watched, .missesEvents)
    case ("GET", _): .status(.notFound)
    default: .status(.notAllowed)
    }
  }
  exit(0)
}
DispatchSource.signals(SIGINT, SIGTERM).subscribeOnce { _ in serving.cancel() }
print("live-board: http://127.0.0.1:\(server.port)/")
fflush(nil)
dispatchMain()  // In debug builds, top-level code that awaits leaks its values.
