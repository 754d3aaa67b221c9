import Foundation
import TestSupport
import Testing

/// The path of Valgrind, or `nil` if it is not installed.
private let valgrind = ["/usr/bin/valgrind", "/usr/local/bin/valgrind"].first {
  FileManager.default.isExecutableFile(atPath: $0)
}

@Suite(.light) struct RequestGrowthTests {
  @Test(
    .enabled(if: valgrind != nil, "Valgrind counts the instructions."),
    .enabled(if: scale >= 1, "Valgrind cannot run programs with sanitizers."))
  func `a request of twice the size takes at most 2.5 times the instructions`() async throws {
    let folder = try Folder()
    let child = try Child(
      [
        "--tool=callgrind", "--callgrind-out-file=\(folder.path("counts"))",
        "--dump-before=*countedParse*",
        Bundle.main.bundleURL.appending(path: "request-parsing").path,
      ], path: valgrind)
    // The program prints all lines at its end.
    let lines = await child.output.rest(patience: 6 * patience)
    #expect(await child.status() == 0)
    #expect(lines.count == 20)
    // The first two files contain the start of the program and the first call.
    let counts = try lines.indices.map { try instructions(folder.file("counts.\($0 + 3)")) }
    for index in stride(from: 0, to: counts.count, by: 2) {
      let (small, large) = (Double(counts[index]), Double(counts[index + 1]))
      // A lower count than one instruction per byte means that the call was not counted.
      #expect(small > 1_900 && large <= 2.5 * small, "\(lines[index]): \(large / small) times")
    }
  }

  private func instructions(_ file: URL) throws -> Int {
    let lines = try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
    let line = try #require(lines.first { $0.hasPrefix("totals: ") })
    return try #require(Int(line.dropFirst(8)))
  }
}
