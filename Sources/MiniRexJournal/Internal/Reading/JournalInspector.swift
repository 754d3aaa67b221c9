internal import CLibrary

#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

/// Reads all lines of a journal's files without its types, for tools.
///
/// It finds the same damage as opening the journal and `verify`.
package struct JournalInspector: Sendable {
  /// A file of the journal.
  package struct File: Sendable {
    package var name: String
    package var version = 0
    package var segment = 0
    package var first = 0
    package var bytes = 0
  }

  /// A line of a file.
  package struct Line {
    package let number: Int
    /// `action`, `state`, `start`, `snapshot`, or `resume`.
    package let kind: String
    package let isCommit: Bool
    package let second: Int?
    package let synced: Int?
    package let version: Int
    package let continues: Bool
    package let isLate: Bool
    /// The content, with its key: `"action":{…}`.
    package let content: ArraySlice<UInt8>
    package let byteCount: Int
  }

  /// A failure, and the file that has it.
  package struct Failure: Error {
    package let file: String
    package let failure: JournalFailure
  }

  private let path: String
  private let files: JournalFiles
  /// The number of bytes at the end of the newest file that never were a line.
  package let tornBytes: Int

  package init(_ url: URL) throws(Failure) {
    do throws(JournalFailure) {
      path = try resolvedPath(url)
      files = try JournalFiles(reading: path)
      let size = Int(try fileStatus(of: files.newest.file.number).st_size)
      tornBytes = size - files.newest.length
    } catch {
      throw Failure(file: url.lastPathComponent, failure: error)
    }
  }

  /// The sequence number of the newest file.
  package var segment: Int { files.newest.header.segment }

  /// The number of the last commit.
  package var lastNumber: Int { files.newest.number }

  /// The paths of the files in the folder of closed files that belong to another journal or branch.
  package var others: [String] {
    let segments = files.segments
    return ((try? segments.others()) ?? []).map(segments.path)
      .filter { (try? isNamed($0, files.newest.file.number)) == false }
  }

  /// Reads all lines, oldest first, and checks them.
  ///
  /// A line that a compaction copied to the next file is read once.
  ///
  /// - Parameters:
  ///   - begin: Gets each file, or `nil` for a closed file that was moved away.
  ///   - body: Gets each line after the header.
  package func read(_ begin: (String, File?) -> Void, _ body: (Line) -> Void) throws(Failure) {
    var last: Int?
    let list = files.segments.list
    for (index, segment) in list.enumerated() {
      let next = index + 1 < list.count ? list[index + 1] : nil
      do throws(JournalFailure) {
        if let part = try files.segments.open(index, before: files.newest, isWhole: true) {
          begin(segment.name, file(part, segment.name))
          last = try read(part, upTo: next?.first ?? files.newest.header.first, after: last, body)
        } else {
          begin(segment.name, nil)
          last = nil
        }
      } catch {
        throw Failure(file: segment.name, failure: error)
      }
      if next?.sequence ?? files.newest.header.segment > segment.sequence + 1 { last = nil }
    }
    let name = URL(filePath: path).lastPathComponent
    do throws(JournalFailure) {
      begin(name, file(files.newest, name))
      _ = try read(files.newest, upTo: nil, after: last, body)
    } catch {
      throw Failure(file: name, failure: error)
    }
  }

  /// Returns the digits with which a line begins.
  package static func checksum(of body: [UInt8]) -> String {
    let digits = String(Checksum.of(body[...]), radix: 16)
    return String(repeating: "0", count: 8 - digits.count) + digits
  }

  private func file(_ part: JournalPart, _ name: String) -> File {
    File(
      name: name, version: part.header.version, segment: part.header.segment,
      first: part.header.first, bytes: part.length)
  }

  /// Reads the lines of one file.
  ///
  /// - Parameters:
  ///   - limit: The number of the first state of the next file, or `nil` for the newest file.
  ///   - number: The number of the last line of the file before, or `nil` if it is unknown.
  /// - Returns: The number of the last line, or `nil` if the rest of the file never reached the disk.
  private func read(
    _ part: JournalPart, upTo limit: Int?, after number: Int?, _ body: (Line) -> Void
  ) throws(JournalFailure) -> Int? {
    if part.length == 0 { return number }
    var last: Int?
    var lines = part.lines(from: part.header.length)
    while let (offset, bytes) = try lines.next() {
      guard let line = JournalLine(bytes) else {
        if limit != nil, try part.hasTornLine(bytes, at: offset, after: last) { return nil }
        throw .damaged(atByte: offset)
      }
      if let limit, line.number > limit { break }
      if !line.follows(last) { throw .damaged(atByte: offset) }
      if last == nil, let number,
        line.isComparable ? line.number != number : line.number < number
      {
        throw .damaged(atByte: offset)
      }
      if line.back == nil || last == nil { last = line.number }
      body(Line(line, bytes))
    }
    return last
  }
}

extension JournalInspector.Line {
  fileprivate init(_ line: JournalLine, _ bytes: ArraySlice<UInt8>) {
    kind = "\(line.kind)"
    isCommit = line.kind.isCommit
    (number, second, synced, version) = (line.number, line.second, line.synced, line.version)
    (continues, isLate) = (line.continues, line.back != nil)
    byteCount = bytes.count + 1
    content = line.content
  }
}

extension JournalPart {
  /// Returns whether a line never reached the disk, and no later line vouches for it.
  func hasTornLine(_ bytes: ArraySlice<UInt8>, at offset: Int, after number: Int?)
    throws(JournalFailure) -> Bool
  {
    let isProved = durable > number ?? -1
    if isProved || header.version == 1 || !hasLostSector(bytes, at: offset, of: length) {
      return false
    }
    var lines = lines(from: offset)
    while let (_, bytes) = try lines.next() {
      if let synced = JournalLine(bytes)?.synced, synced > number ?? -1 { return false }
    }
    return true
  }
}

/// Moves the end of a journal's newest file to another file, from a damaged line on.
///
/// - Returns: The name of the other file.
package func cutJournal(_ url: URL, from offset: Int) throws(JournalFailure) -> String {
  let path = try resolvedPath(url)
  let file = try openRegularFile(path, O_RDWR)
  try lockFile(file.number, LOCK_EX)
  defer { flock(file.number, LOCK_UN) }
  // A compaction may have replaced the file before it was locked.
  if !(try isNamed(path, file.number)) { throw .inUse }
  let size = Int(try fileStatus(of: file.number).st_size)
  let header = try readHeader(of: file, size)
  // Without a first state, the file would be empty.
  guard let header, offset > header.length, offset < size else {
    throw .damaged(atByte: offset)
  }
  try JournalBackup.copy(file, from: offset, to: size, at: path + ".cut")
  try synchronizeFolder(of: path)
  try check { ftruncate(file.number, off_t(offset)) }
  try synchronize(file.number)
  return URL(filePath: path).lastPathComponent + ".cut"
}
