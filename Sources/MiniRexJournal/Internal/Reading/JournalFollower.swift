internal import CLibrary
internal import MiniRex

/// Reads the lines of a journal, file after file, while another process writes it.
///
/// One iterator uses it serially.
final class JournalFollower<State: Codable & Sendable, Action: Codable & Sendable>: Sendable {
  private typealias Entry = JournalEntry<State, Action>

  /// The file that is read, and the place of its next line.
  private struct Place {
    let part: JournalPart
    var offset: Int
    /// The number of the first state of the next file, if the file is closed.
    let limit: Int?
    /// A Boolean value that indicates whether files between this file and the next were removed.
    let precedesGap: Bool
    /// A Boolean value that indicates whether the journal begins with this file.
    let isFirst: Bool
  }

  private struct Memory {
    var place: Place?
    /// The number of the last commit that was read.
    var last: Int
    /// The commits up to this number are on the disk.
    var durable = -1
    /// The size of the next block, which grows with each block, so that a short look decodes few lines.
    var size = 2_048
    var entries = Queue<(entry: JournalEntry<State, Action>, needs: Int)>()
  }

  private let path: String
  /// Returns the present files.
  ///
  /// The process that writes them knows them, and needs no scan.
  private let files: @Sendable () throws(JournalFailure) -> JournalFiles
  private let decoder: JournalDecoder<State, Action>
  private let durableOnly: Bool
  private let memory: SerialState<Memory>

  convenience init(
    _ path: String, _ decoder: JournalDecoder<State, Action>, after number: Int, durableOnly: Bool
  ) {
    self.init(path, decoder, after: number, durableOnly: durableOnly) {
      () throws(JournalFailure) in try JournalFiles(reading: path)
    }
  }

  init(
    _ path: String, _ decoder: JournalDecoder<State, Action>, after number: Int, durableOnly: Bool,
    files: @escaping @Sendable () throws(JournalFailure) -> JournalFiles
  ) {
    self.path = path
    self.files = files
    self.decoder = decoder
    self.durableOnly = durableOnly
    memory = SerialState(Memory(last: number))
  }

  /// Returns the next entry that was read.
  func takeEntry() -> JournalEntry<State, Action>? {
    guard let (entry, needs) = memory.value.entries.first,
      !durableOnly || needs <= memory.value.durable
    else { return nil }
    _ = memory.value.entries.popFirst()
    return entry
  }

  /// Reads a block of lines.
  ///
  /// - Returns: `false` if there is nothing new.
  @concurrent func read() async throws(JournalFailure) -> Bool {
    guard memory.value.place != nil else { return try locate() }
    if try readBlock() { return true }
    guard let place = memory.value.place else { return false }
    if let limit = place.limit {
      // The lines up to the next file are missing.
      if memory.value.last < limit {
        throw place.precedesGap ? .notKept(first: limit) : .damaged(atByte: place.offset)
      }
      return try locate()
    }
    if try isNamed(path, place.part.file.number) { return false }
    // A compaction has replaced the file. Its last lines may have been written after the last look.
    return try readBlock() ? true : locate()
  }

  /// Finds the file with the commit after the last commit.
  private func locate() throws(JournalFailure) -> Bool {
    let last = memory.value.last
    let files = try files()
    if files.newest.length == 0 { return false }
    let starts = files.segments.list.map(\.first) + [files.newest.header.first]
    guard let index = starts.lastIndex(where: { $0 <= last }) else {
      throw .notKept(first: starts[0])
    }
    let limit = index + 1 < starts.count ? starts[index + 1] : nil
    let isClosed = limit != nil
    let sequences = files.segments.list.map(\.sequence) + [files.newest.header.segment]
    let segment = isClosed ? try files.segments.open(index, before: files.newest) : files.newest
    guard let part = segment else {
      // If a policy has just deleted the file, the next look finds another one.
      if try self.files().segments.list.first == files.segments.list.first {
        throw .notKept(first: limit ?? last)
      }
      return true
    }
    if let limit { memory.value.durable = max(memory.value.durable, limit) }
    memory.value.place = Place(
      part: part, offset: try part.offset(after: last), limit: limit,
      precedesGap: isClosed && sequences[index + 1] > sequences[index] + 1,
      isFirst: index == 0 && starts[0] == 0)
    return true
  }

  /// Reads and takes the next complete lines of the file.
  ///
  /// - Returns: `false` if there is no complete line.
  private func readBlock() throws(JournalFailure) -> Bool {
    guard var place = memory.value.place else { return false }
    let size = Int(try fileStatus(of: place.part.file.number).st_size)
    var lines = place.part.lines(from: place.offset, to: max(size, place.offset))
    let start = place.offset
    defer { memory.value.place?.offset = place.offset }
    let block = memory.value.size
    memory.value.size = min(2 * block, blockSize)
    while place.offset - start < block, let piece = try lines.nextPiece(), piece.isComplete {
      guard let line = JournalLine(piece.bytes) else {
        if place.limit == nil, try isTorn(place) { break }
        throw .damaged(atByte: piece.offset)
      }
      if let limit = place.limit, line.number > limit { break }
      try take(line, at: piece.offset, place)
      place.offset = piece.offset + piece.bytes.count + 1
    }
    return place.offset > start
  }

  /// Returns whether the lines from a place on never reached the disk.
  ///
  /// The next writer removes them.
  private func isTorn(_ place: Place) throws(JournalFailure) -> Bool {
    try JournalScan(of: place.part.file).part.length <= place.offset
  }

  private func take(_ line: JournalLine, at offset: Int, _ place: Place)
    throws(JournalFailure)
  {
    if let synced = line.synced { memory.value.durable = max(memory.value.durable, synced) }
    if line.kind == .start {
      let isFirst = place.isFirst && offset == place.part.header.length
      // Only another recording writes a `start` behind the first line. A compaction copies none.
      guard line.number == memory.value.last, !line.continues, !isFirst else { return }
      let entry = Entry(number: line.number, content: .state(try decoder.state(of: line)))
      // The commit with this number can be durable before this line, so the line waits for the next commit.
      return memory.value.entries.append((entry, line.number + 1))
    }
    guard line.kind.isCommit, line.number > memory.value.last else { return }
    if line.number != memory.value.last + 1 { throw .damaged(atByte: offset) }
    let content: Entry.Content =
      line.kind == .action
      ? .action(try decoder.action(of: line)) : .state(try decoder.state(of: line))
    memory.value.last = line.number
    memory.value.entries.append((Entry(number: line.number, content: content), line.number))
  }
}

extension JournalPart {
  /// Returns a place after the header, before which every commit has at most this number.
  fileprivate func offset(after number: Int) throws(JournalFailure) -> Int {
    var lines = linesBackwards(before: try endOfLines(upTo: number, before: length))
    while let (offset, bytes) = try lines.next(), offset > header.length {
      guard let line = JournalLine(unchecked: bytes) else { break }
      if line.back == nil, line.number < number { return offset }
    }
    return header.length
  }
}
