import Foundation
import TestSupport

/// A connection to a server on this machine.
final class Client {
  /// What the server answers, line by line.
  var output: Output

  private let handle: FileHandle

  /// - Parameter readsOutput: False for one that never reads, and has little room for what it does
  ///   not.
  init(port: UInt16, _ request: String, readsOutput: Bool = true) throws {
    let descriptor = socket(AF_INET, 1, 0)
    handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    output = Output(nil)
    var room = Int32(4096)
    if !readsOutput { unsafe setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &room, 4) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    let result = unsafe withUnsafeBytes(of: &address) { bytes in
      unsafe connect(
        descriptor, bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self),
        socklen_t(bytes.count))
    }
    if result != 0 { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
    try write(request)
    if readsOutput { beginReading() }
  }

  deinit {
    leave()
  }

  /// Ends the connection, also for the thread that reads from it.
  func leave() {
    shutdown(handle.fileDescriptor, Int32(SHUT_RDWR))
  }

  func write(_ text: String) throws {
    try handle.write(contentsOf: Data(text.utf8))
  }

  func beginReading() {
    output = Output(handle)
  }

  /// The next event that tells of so many browsers.
  func event(browsers: Int) async throws -> Event {
    while true {
      let event = try await event()
      if event.browsers == browsers { return event }
    }
  }

  /// The next event that tells this, among others.
  func event(_ text: String = "data:") async throws -> Event {
    let line = await output.until(text).last { $0.hasPrefix("data: ") } ?? ""
    return try JSONDecoder().decode(Event.self, from: Data(line.dropFirst(6).utf8))
  }
}

/// What a page needs.
struct Event: Decodable {
  struct Sample: Decodable, Equatable {
    struct Memory: Decodable, Equatable { let used, total: Int }

    let load: [Double]
    let memory: Memory?
    let changes: Int
  }
  struct Changes: Decodable {
    struct Change: Decodable {
      let kind: String
      let name: String?
    }

    let count: Int
    let newestFirst: [Change]
    let isWatched: Bool
  }

  let browsers: Int
  let samples: [Sample]
  let changes: Changes
}
