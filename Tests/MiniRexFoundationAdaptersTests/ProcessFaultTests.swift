import TestSupport

// Faults of the platform on Linux. A test that fails here shows that the platform has fixed one.
#if os(Linux)
import Foundation
import MiniRex
import Testing

@Suite(.heavy) struct ProcessFaultTests {
  @Test func `the platform waits for children that outlive their process`() async throws {
    let output = Pipe()
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/bin/sh")
    process.arguments = ["-c", "sleep 1000 & echo $!"]
    process.standardOutput = output
    try process.run()
    let child = try #require(Int32(output.firstLine()))

    await until { state(of: process.processIdentifier) == "Z" }

    #expect(process.isRunning)
    kill(child, SIGKILL)
    await until { !process.isRunning }
  }

  @Test func `the platform starts a process with the blocked signals of a dispatch queue`()
    async throws
  {
    let output = Pipe()
    let isBlocked = try await withCheckedThrowingContinuation { continuation in
      DispatchQueue(label: "test").async {
        continuation.resume(
          with: Result {
            let process = Process()
            process.executableURL = URL(fileURLWithPath: "/bin/grep")
            process.arguments = ["SigBlk", "/proc/self/status"]
            process.standardOutput = output
            try process.run()
            process.waitUntilExit()
            let mask = output.firstLine().split(separator: "\t").last.flatMap {
              UInt64($0, radix: 16)
            }
            return mask.map { $0 & (1 << (UInt64(SIGTERM) - 1)) != 0 }
          })
      }
    }

    #expect(isBlocked == true)
  }
}

private func state(of process: Int32) -> Substring? {
  let status = try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8)
  return status?.split(separator: " ").dropFirst(2).first
}

extension Pipe {
  fileprivate func firstLine() -> String {
    String(decoding: fileHandleForReading.availableData, as: UTF8.self)
      .trimmingCharacters(in: .newlines)
  }
}
#endif
