import Foundation
import MiniRex
import MiniRexFoundationAdapters
import Synchronization

/// Reads the files that have a name of the command line, one after another.
@MainActor final class FollowedName {
  private let path: String
  private let tail: Tail
  private let rotation: Rotation
  private nonisolated let splitter: Lock<LineSplitter>
  /// The position in the oldest file, or `nil` before the first file is read.
  private var place: Place?
  private var pipe: Subscription?
  private nonisolated let isPipeOver = Atomic(false)
  /// The last report, so that repeated reads do not repeat it.
  private var lastReport = ""

  init(_ path: String, tail: Tail) {
    self.path = path
    self.tail = tail
    rotation = Rotation(path, tail: tail)
    splitter = Lock(LineSplitter(keepsLines: tail.keepsLines))
  }

  /// Reads the file that has the name to its end.
  func readOnce() async throws {
    guard let file = OpenFile(path) else { return report(POSIXError.last) }
    try await reporting { try await begin(file) }
    if file.isPipe, place?.offset == 0 { report("the pipe has no writer", isFailure: false) }
    finish()
    place = nil
  }

  /// Reads the new bytes.
  func read() async throws {
    // During a rotation, the name may be missing for a moment.
    if let error = rotation.follow(), rotation.oldest == nil || error.code != .ENOENT {
      report(error)
    }
    while let file = rotation.oldest {
      // Check before reading, so that earlier writes are read below.
      let isLeft = rotation.isOldestLeft
      try await reporting { try await read(file) }
      if isPipeOver.load(ordering: .acquiring) {
        // Open the pipe again before closing it, because a pipe without a reader kills its writer.
        rotation.reopen()
      } else if isLeft, !Task.isCancelled {
        tail.report("\(path): file replaced")
      } else {
        return
      }
      finish()
      rotation.removeOldest()
    }
  }

  /// Reads the rest, including a last line without a newline.
  func close() async {
    if place != nil { try? await read() }
    finish()
    rotation.close()
  }

  private func read(_ file: OpenFile) async throws {
    if file.isPipe { return try read(pipe: file) }
    if place == nil { try await begin(file) }
    guard var place, file.isRegular else { return }
    // Stop at the present size, so that a busy writer does not starve the other files.
    var size = file.size
    repeat {
      if let bytes = try file.bytes(after: place) {
        if bytes.isEmpty { break }
        place.move(over: bytes)
        publish(bytes)
      } else {
        while let bytes = rotation.copy(after: place), !bytes.isEmpty {
          place.move(over: bytes)
          publish(bytes)
        }
        finish()
        (place, size) = (Place(), file.size)
        tail.report("\(path): file truncated")
      }
      self.place = place
    } while place.offset < size && !Task.isCancelled
    lastReport = ""
  }

  /// Reads from beginning to end in a cancelable task that reports progress.
  private func begin(_ file: OpenFile) async throws {
    let reading = file.url.readTask(into: Place()) { [self] place, bytes in
      place.move(over: bytes)
      publish(bytes)
    }
    let reporting = tail.reportProgress(of: reading)
    defer { reporting.invalidate() }
    place = try await reading.value
  }

  private func read(pipe file: OpenFile) throws {
    if pipe != nil { return }
    if let bytes = try file.readPipe() {
      if bytes.isEmpty { report("the pipe has no writer yet", isFailure: false) }
      publish(bytes)
    }
    pipe = DispatchSource.reads(from: file.descriptor).subscribe { [self] in
      switch $0 {
      case .success(let bytes): publish(bytes)
      case .failure(let error):
        tail.report("\(path): \(error.localizedDescription)", isFailure: true)
      }
    } onEnd: { [self] in
      isPipeOver.store(true, ordering: .releasing)
      tail.hint()
    }
  }

  /// Runs on the thread that read the bytes.
  ///
  /// Each pipe has its own thread.
  private nonisolated func publish(_ bytes: Data) {
    tail.publish(splitter.withLock { $0.split(bytes) })
  }

  /// Prepares for the next file.
  private func finish() {
    pipe?.invalidate()
    pipe = nil
    isPipeOver.store(false, ordering: .relaxed)
    if place != nil { place = Place() }
    tail.publish(splitter.withLock { $0.finish() })
  }

  private func reporting(_ body: () async throws -> Void) async throws {
    do { try await body() } catch  where !(error is CancellationError) { report(error) }
  }

  private func report(_ error: any Error) {
    report(error.localizedDescription, isFailure: true)
  }

  private func report(_ text: String, isFailure: Bool) {
    if text != lastReport { tail.report("\(path): \(text)", isFailure: isFailure) }
    lastReport = text
  }
}
