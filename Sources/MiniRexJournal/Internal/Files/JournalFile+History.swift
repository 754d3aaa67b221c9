internal import MiniRex

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

extension JournalFile {
  /// The newest file, and the closed files before it.
  var files: (newest: JournalPart, segments: JournalSegments, generation: Int) {
    end.withLock { ($0.part, $0.segments, $0.generation) }
  }

  /// Begins a new file with the last state of the file and the lines after it.
  ///
  /// It needs no reducer, so it also works without a recording.
  ///
  /// - Parameter renew: Returns the JSON of a state in its newest version, and this version.
  /// - Returns: `false` if the journal was released, or a recording has begun.
  func compactToLastState(
    _ renew: (JournalLine) throws(JournalFailure) -> (json: JournalLineWriter.JSON, version: Int)
  ) throws(JournalFailure) -> Bool {
    let (part, writer, lost) = end.withLock { ($0.part, $0.writer, $0.disk.lost) }
    if let refusal { throw refusal }
    if let lost { throw lost }
    var renewed: (json: JournalLineWriter.JSON, version: Int)?
    var failure: JournalFailure?
    let state = try part.lastState { line throws(JournalFailure) in
      do throws(JournalFailure) {
        renewed = try renew(line)
      } catch {
        guard case .unreadable = error, line.kind == .snapshot else { throw error }
        failure = error
        return false
      }
      return true
    }
    guard part.length > 0, let (line, offset, next) = state, let (json, version) = renewed else {
      if let failure { throw failure }
      return true
    }
    if part.header.version > 1, offset == part.header.length || part.number == part.header.first {
      return true
    }
    let second = try part.second(before: next)
    // If lines before the state are lost, the remaining lines do not lead to it, so it is a first state.
    let key = try hidesLoss() ? "\"start\"" : "\"snapshot\""
    var text = JournalLineWriter()
    text.append(
      line.number, .init(second: second, version: version), key, json)
    return try compact(
      CompactionStart(
        old: part, header: JournalHeader(segment: part.header.segment + 1, first: line.number),
        line: text.bytes, stateBytes: json.count, second: second, offset: next,
        writer: writer, isFinal: false))
  }
}

extension JournalPart {
  /// Returns the last readable state that `isUsable` accepts, and the place of the line after its commit.
  func lastState(
    before end: Int? = nil,
    where isUsable: (JournalLine) throws(JournalFailure) -> Bool = { _ in true }
  ) throws(JournalFailure) -> (line: JournalLine, offset: Int, next: Int)? {
    var lines = linesBackwards(before: end ?? length)
    while let (offset, bytes) = try lines.next(), offset >= header.length {
      // No checksum of the next file covers a snapshot that was written behind the last line of a closed file.
      guard offset <= proof?.identity.place ?? offset,
        let line = JournalLine(unchecked: bytes), line.kind.hasState,
        JournalLine(bytes) != nil, try isUsable(line)
      else { continue }
      let next = line.back.map { max(offset - $0, header.length) } ?? (offset + bytes.count + 1)
      return (line, offset, next)
    }
    return nil
  }

  /// Returns the Unix second of the last line before a place, of the lines that have one.
  func second(before end: Int) throws(JournalFailure) -> Int? {
    if header.version == 1 { return nil }
    var lines = linesBackwards(before: end)
    while let (offset, bytes) = try lines.next(), offset >= header.length {
      if let second = JournalLine(unchecked: bytes)?.second { return second }
    }
    return nil
  }
}

extension JournalSegments {
  /// Returns the file that has the state after a commit, in the run that made the commit.
  ///
  /// The last commit of a file is also the first state of the next file, which can belong to another run.
  ///
  /// - Parameter includesNext: `true` to prefer the next file.
  func part(of number: Int, _ newest: JournalPart, includesNext: Bool = false)
    throws(JournalFailure) -> JournalPart
  {
    let starts = list.map(\.first) + [newest.header.first]
    let index =
      starts.lastIndex { $0 < number || includesNext && $0 == number }
      ?? starts.firstIndex(of: number)
    guard let index else { throw .notKept(first: starts[0]) }
    if index == list.count { return newest }
    guard var part = try open(index, before: newest) else {
      // The next file begins with this state.
      if number == starts[index + 1] {
        return try self.part(of: number, newest, includesNext: true)
      }
      throw .notKept(first: starts[index + 1])
    }
    part.number = min(part.number, starts[index + 1])
    if part.number < number { throw .notKept(first: starts[index + 1]) }
    return part
  }
}
