import Foundation
import MiniRex
import MiniRexTesting
import TestSupport
import Testing

@testable import first_programs

@Suite(.light) struct ConfigServerTests {
  let folder: Folder
  let log = BroadcastSource<String>()

  init() throws { folder = try Folder() }

  @Test func `the server listens only at the address in its file`() async throws {
    let told = Recorder(log.publisher)
    let server = greet(as: Settings.following(folder.file("settings"))) { log.broadcast($0) }
    #expect(told.updates.isEmpty)

    try configure("127.0.0.1", 0, "Hello")
    let port = try #require(await UInt16(told.next()[0].split(separator: ":")[1]))
    #expect(await greeting(at: "127.0.0.1", port) == "Hello")

    // Host and port change together. Changing one at a time would listen at an intermediate
    // address.
    try configure("127.0.0.2", port, "Good day")
    #expect(await told.next() == ["listening on 127.0.0.2:\(port)"])
    #expect(await greeting(at: "127.0.0.2", port) == "Good day")
    #expect(await greeting(at: "127.0.0.1", port) == nil)

    server.invalidate()
    #expect(await greeting(at: "127.0.0.2", port) == nil)
  }

  @Test func `an invalid file does not change the settings`() async throws {
    try configure("127.0.0.1", 1, "Hello")
    let settings = Recorder(Settings.following(folder.file("settings")).map { $0?.greeting })

    try folder.write("{", to: "settings")
    try folder.write("", to: "other")
    try configure("127.0.0.1", 1, "Good day")

    #expect(await settings.next(2) == ["Hello", "Good day"])
  }

  private func configure(_ host: String, _ port: UInt16, _ greeting: String) throws {
    try folder.write(
      #"{"host": "\#(host)", "port": \#(port), "greeting": "\#(greeting)"}"#, to: "new")
    try? FileManager.default.removeItem(at: folder.file("settings"))
    try folder.move("new", to: "settings")
  }

  /// Returns `nil` if no server listens there.
  private func greeting(at host: String, _ port: UInt16) async -> String? {
    guard let connection = try? Connection(to: host, port) else { return nil }
    return await connection.lines.first().result?.get()
  }
}
