#if NATS
import Foundation
import MiniRex
import MiniRexFoundationAdapters

/// Starts a server, three workers, and one process for the page, and restarts any that ends.
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

  // The cleaner starts before the server and outlives this process.
  processes.keep("cleaner", program, ["--clean", folder.path, "\(getpid())"])
  await processes.haveStarted("cleaner")
  processes.keep(
    "nats-server", server,
    [
      "-a", "127.0.0.1", "-p", "\(host)", "-js", "-sd", folder.path,
      "-l", folder.appending(path: "log").path,
    ])
  for name in ["billing", "mail", "search"] {
    processes.keep(name, program, ["--work", name, url, "\(getpid())"])
  }
  processes.keep("page", program, ["--page", "\(page)", url, "\(getpid())"])
  print("fleet: http://127.0.0.1:\(page)/")
  fflush(nil)
  _ = await DispatchSource.signals(SIGINT, SIGTERM).first { _ in true }.result
  processes.end()
  cleanUp(folder)
  exit(0)
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
