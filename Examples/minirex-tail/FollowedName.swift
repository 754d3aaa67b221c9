import Foundation
import MiniRex
import MiniRexFoundationAdapters
import Synchronization

/// A name on the command line: reads the files that have it, one after the other.
@MainActor final class FollowedName {
  private let path: String
  private let tail: Tail
  private let rotation: Rotation
  private nonisolated let splitter = Lock(LineSplitter())
  /// How far the oldest file has been read; `nil` before the first is, from its beginning.
  private var place: Place?
  private var pipe: Subscription?
  private nonisolated let isPipeOver = Atomic(false)
  /// What was told last, so that it is not told at each look.
  private var trouble = ""

  init(_ path: String, tail: Tail) {
    self.path = path
    self.tail = tail
    rotation = Rotation(path, tail: tail)
  }

  /// Reads the file that has the name now to its end.
  func readOnce() async throws {
    guard let file = OpenFile(path) else { return report(POSIXError.last) }
    try await reporting { try await begin(file) }
    if file.isPipe, place?.offset == 0 { report("nobody writes to it", isFailure: false) }
    finish()
    place = nil
  }

  /// Reads what has come.
  func read() async throws {
    // Between two files of a name there may be none for a moment.
    if let error = rotation.follow(), rotation.oldest == nil || error.code != .ENOENT {
      report(error)
    }
    while let file = rotation.oldest {
      // Asked before: what was written until then is read below.
      let isLeft = rotation.isOldestLeft
      try await reporting { try await read(file) }
      if isPipeOver.load(ordering: .acquiring) {
        // The next before this one is closed: whoever writes to a pipe without a reader is stopped.
        rotation.reopen()
      } else if isLeft, !Task.isCancelled {
        tail.tell("\(path): file replaced")
      } else {
        return
      }
      finish()
      rotation.removeOldest()
    }
  }

  /// Tells what was written before this, and the last line even if it has no newline.
  func close() async {
    if place != nil { try? await read() }
    finish()
    rotation.close()
  }

  private func read(_ file: OpenFile) async throws {
    if file.isPipe { return try read(pipe: file) }
    if place == nil { try await begin(file) }
    guard var place, file.isRegular else { return }
    // Not what is written meanwhile, so that the others have their turn too.
    var size = file.size
    repeat {
      if let bytes = try file.bytes(after: place) {
        if bytes.isEmpty { break }
        place.move(over: bytes)
        tell(bytes)
      } else {
        while let bytes = rotation.copy(after: place), !bytes.isEmpty {
          place.move(over: bytes)
          tell(bytes)
        }
        finish()
        (place, size) = (Place(), file.size)
        tail.tell("\(path): file truncated")
      }
      self.place = place
    } while place.offset < size && !Task.isCancelled
    trouble = ""
  }

  /// Reads from beginning to end, which is a task that tells its progress and can be cancelled.
  private func begin(_ file: OpenFile) async throws {
    let reading = file.url.readTask(into: Place()) { [self] place, bytes in
      place.move(over: bytes)
      tell(bytes)
    }
    let telling = tail.tellProgress(of: reading)
    defer { telling.invalidate() }
    place = try await reading.value
  }

  private func read(pipe file: OpenFile) throws {
    if pipe != nil { return }
    if let bytes = try file.readPipe() {
      if bytes.isEmpty { report("nobody writes to it yet", isFailure: false) }
      tell(bytes)
    }
    pipe = DispatchSource.reads(from: file.descriptor).subscribe { [self] in
      switch $0 {
      case .success(let bytes): tell(bytes)
      case .failure(let error): tail.tell("\(path): \(error.localizedDescription)", isFailure: true)
      }
    } onEnd: { [self] in
      isPipeOver.store(true, ordering: .releasing)
      tail.hint()
    }
  }

  /// Called where it is read: a pipe has a thread of its own.
  private nonisolated func tell(_ bytes: Data) {
    tail.tell(splitter.withLock { $0.split(bytes) })
  }

  /// What comes now is another file.
  private func finish() {
    pipe?.invalidate()
    pipe = nil
    isPipeOver.store(false, ordering: .relaxed)
    if place != nil { place = Place() }
    tail.tell(splitter.withLock { $0.finish() })
  }

  private func reporting(_ body: () async throws -> Void) async throws {
    do { try await body() } catch  where !(error is CancellationError) { report(error) }
  }

  private func report(_ error: any Error) {
    report(error.localizedDescription, isFailure: true)
  }

  private func report(_ text: String, isFailure: Bool) {
    if text != trouble { tail.tell("\(path): \(text)", isFailure: isFailure) }
    trouble = text
  }
}
