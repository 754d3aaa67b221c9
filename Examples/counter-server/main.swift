import Foundation
import MiniRex
import MiniRexFoundationAdapters
import MiniRexJournal
import MiniRexPageServer

let log = Log()

func fail(_ reason: String, status: Int32 = 1) -> Never {
  log("failed", ["reason": "\(reason)"])
  exit(status)
}

guard let options = Options(CommandLine.arguments.dropFirst()) else {
  fail(
    "usage: counter-server [--port NUMBER] [--journal FILE] [--notice SECONDS]", status: 2)
}
let service: Service
do {
  service = try Service(
    Journal<Counters, CounterAction>(URL(filePath: options.journal), sync: .onFlush), log: log)
} catch {
  fail("\(options.journal): \(error)")
}
guard let server = PageServer(port: options.port) else {
  fail("port \(options.port): \(unsafe String(cString: strerror(errno)))")
}
let serving = Task {
  await server.serve(until: service.whileServing) { await service.answer($0) }
  log("stopped")
  exit(0)
}
DispatchSource.signals(SIGTERM, SIGINT).subscribeOnce { _ in
  log("stopping")
  Task { await service.stop(after: .seconds(options.notice)) }
}
log("started", ["port": .number(Int(server.port))])
print("counter-server: http://127.0.0.1:\(server.port)/")
fflush(nil)
dispatchMain()  // In debug builds, top-level code that awaits leaks its values.
