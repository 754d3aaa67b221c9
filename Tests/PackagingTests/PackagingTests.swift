import Foundation
import TestSupport
import Testing

/// The package without the trait `NATS`, and on systems without libnats.
@Suite(.heavy) struct PackagingTests {
  private let root = URL(filePath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()

  #if os(Linux) && !NATS
  @Test func `P1 the root builds and tests without libnats`() throws {
    // `String(contentsOfFile:)` reads only the beginning of files without a size.
    let file = try #require(FileHandle(forReadingAtPath: "/proc/self/maps"))
    let maps = String(decoding: try file.readToEnd() ?? Data(), as: UTF8.self)
    #expect(maps.contains("[stack]"))
    #expect(!maps.contains("libnats"))
  }
  #endif

  #if !NATS
  @Test func `P3 a client without the trait gets advice`() async throws {
    let folder = try Folder()
    let program = folder.file("main.swift")
    let modules = Bundle.main.bundleURL.appending(path: "Modules").path
    func check(_ text: String) async throws -> (status: Int32?, errors: [String]) {
      try Data("import MiniRexNATS\n\(text)\n".utf8).write(to: program)
      return try await run("swiftc", "-typecheck", "-I", modules, program.path)
    }

    let client = try await check(#"let nats = NATSConnection("nats://127.0.0.1:4222")"#)
    #expect(client.status != 0)
    let advice =
      #"'NATSConnection' is unavailable: Enable the trait in your manifest: "#
      + #".package(url: …, from: …, traits: ["NATS"])"#
    #expect(client.errors.contains { $0.hasSuffix(advice) }, "\(client.errors)")
    let other = try await check("print(1)")
    #expect(other.status == 0, "\(other.errors)")
  }
  #endif

  @Test func `P4 a missing libnats names the package to install`() async throws {
    let header = root.appending(path: "Sources/CNATS/shim.h").path
    // Without the folders of the system, no header exists.
    let (status, errors) = try await run(
      "clang", "-nostdinc", "-fsyntax-only", "-x", "c-header", header)
    #expect(status != 0)
    #expect(errors.contains { $0.contains("apt-get install libnats-dev") }, "\(errors)")
  }

  @Test func `P5 the package has no symbolic links`() throws {
    let files = try #require(
      FileManager.default.enumerator(at: root, includingPropertiesForKeys: [.isSymbolicLinkKey]))
    var count = 0
    for case let file as URL in files {
      // Builds and the repository.
      if file.lastPathComponent.hasPrefix("."), file.lastPathComponent != ".ci" {
        files.skipDescendants()
        continue
      }
      count += 1
      let isLink = try file.resourceValues(forKeys: [.isSymbolicLinkKey]).isSymbolicLink
      #expect(isLink == false, "\(file.path)")
    }
    #expect(count > 1_000)
  }

  private func run(_ arguments: String...) async throws -> (status: Int32?, errors: [String]) {
    let child = try Child(arguments, path: "/usr/bin/env")
    // A compiler may print nothing for a while.
    let errors = await child.errors.rest(patience: 6 * patience)
    return (await child.status(), errors)
  }
}
