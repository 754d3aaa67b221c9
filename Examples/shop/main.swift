import Foundation
import MiniRex
import MiniRexFoundationAdapters
import MiniRexInspector
import MiniRexJournal
import MiniRexPageServer

func fail(_ reason: String, status: Int32 = 1) -> Never {
  FileHandle.standardError.write(Data("shop: \(reason)\n".utf8))
  exit(status)
}

guard let options = Options(CommandLine.arguments.dropFirst()) else {
  fail(Options.usage, status: 2)
}
let graph = LiveGraph()
setDefaultInstrument(graph)
let service: Service
let inspector: Inspector
do {
  let journal = try Journal<Shop, Action>(
    options.journal, keeping: .last(commits: 100_000))
  let earlierCommits = journal.lastNumber
  service = try Service(journal, bank: options.bank)
  inspector = try Inspector(of: graph, port: options.inspectorPort)
  inspector.watch(service.store, earlierCommits: earlierCommits, alwaysRecords: true)
} catch {
  fail("\(error)")
}
guard let server = PageServer(port: options.port) else {
  fail("The port \(options.port) is in use.")
}
let serving = Task {
  await server.serve(until: service.whileServing) { await service.answer($0) }
  exit(0)
}
DispatchSource.signals(SIGTERM, SIGINT).subscribeOnce { _ in Task { await service.stop() } }
print("shop: http://127.0.0.1:\(server.port)/")
print("inspector: \(inspector.url)")
fflush(nil)
dispatchMain()  // In debug builds, top-level code that awaits leaks its values.
