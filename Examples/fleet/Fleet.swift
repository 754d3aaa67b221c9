#if NATS
import Foundation
import MiniRex
import MiniRexFoundationAdapters

/// The names of the logs, one per process.
let names = ["load", "memory", "server"]

/// Starts a server, one process per log, and one process for the page, and restarts any that ends.
func runFleet(port: UInt16) async -> Never {
  guard let server = findProgram("nats-server") else {
    fail("fleet: nats-server is not installed. On Debian, use 'apt-get install nats-server'.")
  }
  guard
    let (host, page) = (try? freePort(0)).flatMap({ host in (try? freePort(port)).map { (host, $0) }
    })
  else { fail("fleet: Port \(port) is in use.") }
  let folder: URL
  do {
    folder = try makeFolder()
  } catch {
    fail("fleet: \(error.localizedDescription)")
  }
  let program = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
  let url = "nats://127.0.0.1:\(host)"
  let processes = Processes()
  @Sendable func log(_ name: String) -> String { folder.appending(path: "\(name).log").path }
  do {
    for name in names { try Data().write(to: URL(filePath: log(name))) }
  } catch {
    fail("fleet: \(folder.path): \(error.localizedDescription)")
  }

  // The cleaner starts before the server and outlives this process.
  processes.keep("cleaner", program, ["--clean", folder.path, "\(getpid())"])
  await processes.haveStarted("cleaner")
  processes.keep(
    "nats-server", server,
    [
      "-a", "127.0.0.1", "-p", "\(host)", "-js", "-sd", folder.path, "-D", "-l", log("server"),
    ])
  for name in names {
    processes.keep(name, program, ["--follow", name, log(name), url, "\(getpid())"])
  }
  processes.keep("page", program, ["--page", "\(page)", url, "\(getpid())"])
  let writing = [("load", "/proc/loadavg", 0), ("memory", "/proc/meminfo", 2)].map {
    name, file, line in
    DispatchQueue(label: name).broadcaster(every: .seconds(1)).subscribe { _ in
      copyLine(line, of: file, to: log(name))
    }
  }
  print("fleet: http://127.0.0.1:\(page)/")
  fflush(nil)
  _ = await DispatchSource.signals(SIGINT, SIGTERM).first { _ in true }.result
  withExtendedLifetime(writing) {}
  processes.end()
  cleanUp(folder)
  exit(0)
}

private func copyLine(_ number: Int, of file: String, to log: String) {
  guard let text = try? String(contentsOfFile: file, encoding: .utf8),
    let handle = FileHandle(forWritingAtPath: log)
  else { return }
  let lines = text.split(separator: "\n")
  guard number < lines.count else { return }
  _ = try? handle.seekToEnd()
  try? handle.write(contentsOf: Data("\(lines[number])\n".utf8))
  try? handle.close()
}

private func findProgram(_ name: String) -> URL? {
  let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin"
  return (path.split(separator: ":") + ["/usr/sbin"])
    .map { URL(filePath: String($0)).appending(path: name) }
    .first { FileManager.default.isExecutableFile(atPath: $0.path) }
}

/// Returns the port if it is free, or any free port for 0.
private func freePort(_ port: UInt16) throws -> UInt16 {
  let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
  defer { close(descriptor) }
  var (yes, size) = (Int32(1), socklen_t(MemoryLayout<sockaddr_in>.size))
  unsafe setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, 4)
  var address = sockaddr_in()
  address.sin_family = sa_family_t(AF_INET)
  address.sin_port = port.bigEndian
  address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
  let isFree = unsafe withUnsafeMutablePointer(to: &address) { pointer in
    unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
      unsafe bind(descriptor, $0, size) == 0 && getsockname(descriptor, $0, &size) == 0
    }
  }
  if !isFree { throw POSIXError(.EADDRINUSE) }
  return UInt16(bigEndian: address.sin_port)
}
#endif
