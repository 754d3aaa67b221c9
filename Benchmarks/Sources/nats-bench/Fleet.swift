#if NATS
import Bare
import Foundation
import MiniRex
import MiniRexFleet
import MiniRexNATS

/// Reports as many members until the parent process ends, over ten connections.
///
/// Each has a graph with ten subscriptions.
func beMembers(_ count: Int, _ url: String) async -> Never {
  let parent = getppid()
  let connections = (0..<10).map { _ in NATSConnection(url) }
  let graph = LiveGraph()
  let source = BroadcastSource<Int>(name: "orders", instrument: graph)
  let subscriptions = (0..<10).map { _ in source.publisher.subscribe { _ in } }
  let members = (0..<count).map { number in
    FleetMember(
      of: "bench", over: connections[number % 10], name: "program-\(number % 20)",
      version: "1.4.2", inspecting: graph)
  }
  while getppid() == parent {
    source.broadcast(1)
    try? await Task.sleep(for: .milliseconds(100))
  }
  withExtendedLifetime((members, subscriptions)) {}
  exit(0)
}

/// Prints the share of a core that the page takes, and the bytes that each member sends.
func measureFleet(of count: Int, _ url: String, seconds: Int) async throws {
  let members = try start("/proc/self/exe", "--members", "\(count)", url)
  defer { members.terminate() }
  let nats = NATSConnection(url)
  let page = try FleetPage(of: "bench", over: nats)
  while try await rowCount(page) < count { try await Task.sleep(for: .seconds(1)) }
  print("the page of \(count) members, over \(seconds) s")
  for browsers in [0, 1, 4] {
    let open = try (0..<browsers).map { _ in
      try start("/usr/bin/env", "curl", "-sN", "-o", "/dev/null", "\(page.url)events")
    }
    defer { for browser in open { browser.terminate() } }
    try await Task.sleep(for: .seconds(3))
    let (began, before, bytes) = (ContinuousClock.now, processor_seconds(), nats.statistics.bytesIn)
    try await Task.sleep(for: .seconds(seconds))
    let took = (ContinuousClock.now - began) / .seconds(1)
    let share = (processor_seconds() - before) / took * 100
    let received = Double(nats.statistics.bytesIn - bytes) / took / Double(count)
    print(
      "  \(browsers) browsers: \(String(format: "%.2f", share)) % of a core (goal: at most 2),",
      "\(Int(received)) bytes/s from each member (goal: at most 1024)")
  }
}

/// Returns the number of rows in the first event of the page.
private func rowCount(_ page: FleetPage) async throws -> Int {
  let output = Pipe()
  let browser = try start(
    "/usr/bin/env", "curl", "-sN", "--max-time", "1", "\(page.url)events", output: output)
  let data = try output.fileHandleForReading.readToEnd() ?? Data()
  browser.waitUntilExit()
  let first = String(decoding: data, as: UTF8.self).components(separatedBy: "\n\n").first ?? ""
  return first.components(separatedBy: "{\"id\":").count - 1
}

private func start(
  _ program: String, _ arguments: String..., output: Pipe? = nil
) throws -> Process {
  let process = Process()
  process.executableURL = URL(filePath: program).resolvingSymlinksInPath()
  process.arguments = arguments
  if let output { process.standardOutput = output }
  try process.run()
  return process
}
#endif
