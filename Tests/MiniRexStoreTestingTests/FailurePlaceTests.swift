import Foundation
import MiniRexStore
import MiniRexStoreTesting
import TestSupport
import Testing

#if canImport(XCTest)
import XCTest
#endif

private let adding: Reducer<Int, Int> = { state, action in
  state += action
  return action == 1 ? .send(2) : .none
}

@Sendable private func record(_ failure: TestStoreFailure) {
  Issue.record(
    failure,
    sourceLocation: SourceLocation(
      fileID: failure.fileID, filePath: "\(failure.filePath)", line: failure.line,
      column: failure.column))
}

@Suite(.light) struct FailurePlaceTests {
  @Test func `S36 a caught failure fails the test`() async {
    var failure: TestStoreFailure?
    let line = #line + 3
    do {
      try await withTestStore(0, reducer: adding) { store in
        _ = try? store.send(5) { $0 = 6 }
        try store.send(6) { $0 = 11 }
      }
    } catch {
      failure = error as? TestStoreFailure
    }

    #expect(failure?.line == line)
    #expect(failure?.fileID == #fileID)
    #expect(failure?.description.contains("the state: 5, expected 6") == true)
  }

  @Test func `S36 all caught failures are listed, and the error that follows them`() async {
    struct Late: Error {}
    let failure = await #expect(throws: TestStoreFailure.self) {
      try await withTestStore(0, reducer: adding) { store in
        for _ in 0..<8 { _ = try? store.send(5) }
        throw Late()
      }
    }

    #expect(failure?.description.contains("the state: 25, expected 20") == true)
    #expect(
      failure?.description.contains("and 3 more failures\nThe test then threw Late().") == true)
  }

  @Test func `S36 a caught error of an expectation fails the test`() async {
    struct Wrong: Error {}
    let caught = await #expect(throws: TestStoreFailure.self) {
      try await withTestStore(0, reducer: adding) { store in
        _ = try? store.send(5) { _ in throw Wrong() }
        try store.send(5) { $0 = 10 }
      }
    }
    await #expect(throws: Wrong.self) {
      try await withTestStore(0, reducer: adding) { store in
        try store.send(5) { _ in throw Wrong() }
      }
    }

    #expect(caught?.description.contains("The expectation of sending 5 threw Wrong().") == true)
  }

  @Test func `S36 onFailure records a failure of send, receive, and the end at its line`()
    async throws
  {
    let failures = Shared<[TestStoreFailure]>([])
    let start = #line
    try await withTestStore(0, onFailure: { failures.append($0) }, reducer: adding) { store in
      try store.send(5)
    }
    try await withTestStore(0, onFailure: { failures.append($0) }, reducer: adding) { store in
      try store.send(1) { $0 = 1 }
      try await store.receive(3)
    }
    try await withTestStore(0, onFailure: { failures.append($0) }, reducer: adding) { store in
      try store.send(1) { $0 = 1 }
    }

    #expect(failures.value.map { $0.line - start } == [2, 6, 8])
  }

  @Test func `S36 Swift Testing shows a failure at the line of the send`() async throws {
    let line = #line + 4
    let lines = Shared<[Int?]>([])
    try await withKnownIssue {
      try await withTestStore(0, onFailure: record, reducer: adding) { store in
        try store.send(5)
      }
    } matching: { issue in
      lines.append(issue.sourceLocation?.line)
      return true
    }

    #expect(lines.value == [line])
  }

  #if canImport(Glibc) && canImport(XCTest)
  @Test(.enabled(if: scale >= 1, "XCTest leaks, and the sanitizer steps look for leaks"))
  func `S36 XCTest shows a failure at the line of the send`() async {
    final class Observer: NSObject, XCTestObservation, @unchecked Sendable {
      var failures: [String] = []
      func testCase(
        _ testCase: XCTestCase, didFailWithDescription description: String,
        inFile path: String?, atLine line: Int
      ) {
        failures.append("\(path ?? ""):\(line)")
      }
    }
    let line = Shared(0)
    let failures = Shared<[String]>([])
    await onQueue {
      let observer = Observer()
      let testCase = XCTestCase(name: "place") { _ in
        let done = DispatchSemaphore(value: 0)
        Task {
          try? await withTestStore(
            0, onFailure: { XCTFail("\($0)", file: $0.filePath, line: UInt($0.line)) },
            reducer: adding
          ) { store in
            line.value = #line + 1
            try store.send(5)
          }
          done.signal()
        }
        done.waitAtMost()
      }
      XCTestObservationCenter.shared.addTestObserver(observer)
      testCase.run()
      XCTestObservationCenter.shared.removeTestObserver(observer)
      failures.value = observer.failures
    }

    #expect(failures.value == ["\(#filePath):\(line.value)"])
  }
  #endif
}
