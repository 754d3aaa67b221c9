#if NATS
import Foundation
import MiniRex
import MiniRexTesting
import TestSupport
import Testing

/// The example `fleet`: a server, three workers, and one page.
@Suite(.heavy)
struct FleetTests {
  @Test func `the page of the fleet reports a stopped server, and its return`()
    async throws
  {
    let fleet = try await Fleet()
    let page = try fleet.openPage()
    await until { page.value.contains(#""answers":true"#) }
    let server = try #require(fleet.ids.value["nats-server"])

    kill(server, SIGSTOP)
    await until { page.value.contains(#""answers":false"#) }
    kill(server, SIGCONT)
    await until { page.value.contains(#""answers":true"#) }
    await fleet.end(with: SIGTERM)
    await until { !fleet.leavesAnything }
  }

  @Test func `killed processes return, and the page repairs itself`() async throws {
    let fleet = try await Fleet()
    let workers = ["billing", "mail", "search"]
    await until { workers.allSatisfy { fleet.ids.value[$0] != nil } }
    let page = try fleet.openPage()
    for name in workers + ["nats-server"] {
      let old = try #require(fleet.ids.value[name])
      kill(old, SIGKILL)
      await until { fleet.ids.value[name] != old }
    }

    // Each event has the rows of the processes that have reported in the second before.
    await until {
      page.value.contains(#""answers":true"#)
        && workers.allSatisfy { name in
          fleet.ids.value[name].map { fleet.seen.value.contains(#""process":\#($0),"#) } ?? false
        }
    }
    await fleet.end(with: SIGTERM)
    await until { !fleet.leavesAnything }
  }

  @Test(arguments: [false, true])
  func `a killed fleet ends its server and removes its folder`(_ withCleaner: Bool)
    async throws
  {
    let fleet = try await Fleet()
    #expect(fleet.leavesAnything)
    if withCleaner {
      kill(try #require(fleet.ids.value["cleaner"]), SIGKILL)
      await fleet.end(with: SIGKILL)
      // The next fleet removes the files.
      await (try Fleet()).end(with: SIGTERM)
    } else {
      await fleet.end(with: SIGKILL)
    }

    #expect(await holds(within: .seconds(30), !fleet.leavesAnything))
    fleet.killServer()
  }
}

private final class Fleet: Sendable {
  let ids = Shared<[String: pid_t]>([:])
  /// The events of the page.
  let seen = Shared("")
  private let process: RunningProcess
  private let output = Pipe()
  private let port = Shared(0)
  private let folder = Shared("")

  init() async throws {
    let path = Bundle.main.bundleURL.appending(path: "fleet").path
    guard let nothing = FileHandle(forReadingAtPath: "/dev/null"),
      let errors = FileHandle(forWritingAtPath: "/dev/null")
    else { throw POSIXError(.ENOENT) }
    _ = fcntl(output.fileHandleForReading.fileDescriptor, F_SETFD, FD_CLOEXEC)
    process = try RunningProcess(
      [path, "--port", "0"], streams: [nothing, output.fileHandleForWriting, errors])
    let (ids, port, handle) = (ids, port, output.fileHandleForReading)
    Thread.detachNewThread {
      var rest = Data()
      while true {
        let more = handle.availableData
        if more.isEmpty { return }
        rest += more
        while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
          let line = String(decoding: rest[..<end], as: UTF8.self)
          rest = Data(rest[(end + 1)...])
          let words = line.split(separator: " ")
          if words.count == 3 && words[1] == "process" {
            ids.change { $0[String(words[0].dropLast())] = pid_t(words[2]) }
          } else if words.first == "fleet:",
            let number = words.last.flatMap({ URL(string: String($0)) })?.port
          {
            port.value = number
          }
        }
      }
    }
    await until { port.value != 0 && ids.value["nats-server"] != nil && ids.value["page"] != nil }
    // Between the shell and the server, the arguments are equal.
    folder.value =
      arguments(of: ids.value["nats-server"] ?? 0).first {
        $0.contains("/fleet-") && !$0.hasSuffix(".log")
      } ?? ""
  }

  deinit { process.send(SIGKILL) }

  func end(with signal: Int32) async {
    process.send(signal)
    _ = await process.status()
  }

  func killServer() {
    if let id = ids.value["nats-server"], isServer(id) { kill(id, SIGKILL) }
  }

  /// A Boolean value that indicates whether the server or the folder exists.
  var leavesAnything: Bool {
    isServer(ids.value["nats-server"] ?? 0)
      || FileManager.default.fileExists(atPath: folder.value)
  }

  private func isServer(_ id: pid_t) -> Bool { arguments(of: id).contains(folder.value) }

  private func arguments(of id: pid_t) -> [String] {
    let data = FileManager.default.contents(atPath: "/proc/\(id)/cmdline") ?? Data()
    return data.split(separator: 0).map { String(decoding: $0, as: UTF8.self) }
  }

  /// The last event of the page.
  func openPage() throws -> Shared<String> {
    let (event, seen) = (Shared(""), seen)
    let address = Address(host: "127.0.0.1", port: port.value)
    Thread.detachNewThread {
      while true {
        // The page may not listen yet.
        guard let socket = try? Socket.connected(to: address) else {
          usleep(50_000)
          continue
        }
        let request = "GET /events HTTP/1.1\r\nHost: 127.0.0.1:\(address.port)\r\n\r\n"
        _ = unsafe request.withCString {
          unsafe send(socket.descriptor, $0, strlen($0), Int32(MSG_NOSIGNAL))
        }
        var (rest, bytes) = (Data(), [UInt8](repeating: 0, count: 1 << 16))
        while true {
          let count = unsafe read(socket.descriptor, &bytes, bytes.count)
          if count <= 0 { return }
          rest += bytes[..<count]
          while let end = rest.range(of: Data("\n\n".utf8)) {
            let text = String(decoding: rest[..<end.lowerBound], as: UTF8.self)
            event.value = text
            seen.change { $0 += text }
            rest = Data(rest[end.upperBound...])
          }
        }
      }
    }
    return event
  }
}
#endif
