internal import CLibrary

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// A closed file: `board.journal.segments/000002-48210.journal`.
struct JournalSegment: Sendable, Equatable {
  /// The sequence number of the file.
  ///
  /// The file of version 1 is 0.
  let sequence: Int
  /// The number of its first state.
  let first: Int
  var bytes = 0
  /// A Boolean value that indicates whether the journal has closed the file, or compared its ends when it was opened.
  var isProved = false

  /// The newest file, when it is closed.
  init(_ header: JournalHeader, bytes: Int) {
    (sequence, first, self.bytes, isProved) = (header.segment, header.first, bytes, true)
  }

  /// Returns `nil` for a name that a journal does not write.
  ///
  /// It reads bytes, because strings take longer than the rest of the search for files.
  init?(name: some BidirectionalCollection<UInt8>) {
    let suffix = fileSuffix.utf8
    let numbers = name.dropLast(suffix.count).split(
      separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
    guard name.suffix(suffix.count).elementsEqual(suffix), numbers.count == 2,
      let sequence = decimal(numbers[0], digits: sequenceDigits),
      let first = decimal(numbers[1])
    else { return nil }
    (self.sequence, self.first) = (sequence, first)
  }

  var name: String {
    let digits = "\(sequence)"
    return String(repeating: "0", count: max(0, sequenceDigits - digits.count))
      + "\(digits)-\(first)\(fileSuffix)"
  }
}

/// The closed files of a journal, oldest first.
struct JournalSegments: Sendable {
  private(set) var list: [JournalSegment] = []
  let folder: String

  /// Finds the files before a file.
  ///
  /// A journal that was moved, or restored from a copy, can find closed files of another journal or branch at its new path,
  /// with the names of its closed files. The file before the newest file decides about all files, because the first compaction moves
  /// foreign files away. So it takes the same time for any number of files.
  init(of path: String, before newest: JournalScan) throws(JournalFailure) {
    folder = path + folderSuffix
    let all = try Self.all(in: folder)
    if newest.part.length > 0 {
      list = files(all, before: newest.part)
    } else if newest.tornBytes > 0, !all.isEmpty {
      // The first file of a journal is created when the folder is empty.
      throw .damaged(atByte: 0)
    }
  }

  /// Finds the files in a folder, with their sizes.
  ///
  /// It calls the system directly, because `FileManager` takes several times as long for thousands of files.
  static func all(in folder: String) throws(JournalFailure) -> [JournalSegment] {
    guard let directory = unsafe opendir(folder) else {
      let code = errno
      if code == ENOENT { return [] }
      throw .file(POSIXErrorCode(rawValue: code) ?? .EIO)
    }
    defer { unsafe closedir(directory) }
    var found: [JournalSegment] = []
    while true {
      errno = 0
      guard let entry = unsafe readdir(directory) else { break }
      unsafe withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
        let name = unsafe bytes.prefix { $0 != 0 }
        guard var segment = unsafe JournalSegment(name: name) else { return }
        var status = stat()
        let path = unsafe bytes.assumingMemoryBound(to: CChar.self).baseAddress.unsafelyUnwrapped
        if unsafe fstatat(dirfd(directory), path, &status, 0) == 0 {
          // A folder is no closed file, and cannot be linked.
          if status.st_mode & S_IFMT == S_IFDIR { return }
          segment.bytes = Int(status.st_size)
        }
        found.append(segment)
      }
    }
    // A missing name would be missing history.
    if let code = POSIXErrorCode(rawValue: errno) { throw .file(code) }
    return found.sorted { $0.sequence < $1.sequence }
  }

  func path(_ segment: JournalSegment) -> String { "\(folder)/\(segment.name)" }

  mutating func append(_ segment: JournalSegment) { list.append(segment) }

  /// Records that the journal may not have written a file.
  mutating func doubt(_ segment: JournalSegment) {
    if let index = list.firstIndex(of: segment) { list[index].isProved = false }
  }

  mutating func remove(_ segment: JournalSegment) { list.removeAll { $0 == segment } }

  /// Opens a closed file, or returns `nil` if another file has its name or the file was moved away.
  ///
  /// Reading a part of the file that belongs to another file throws `notKept`.
  ///
  /// - Parameters:
  ///   - index: The index of the file.
  ///   - newest: The file after the closed files.
  ///   - isWhole: `true` to compare the entire file now.
  func open(_ index: Int, before newest: JournalPart, isWhole: Bool = false)
    throws(JournalFailure) -> JournalPart?
  {
    guard let start = try start(of: index, before: newest) else { return nil }
    let next = index + 1 == list.count ? newest : try? self.start(of: list[index + 1])
    do throws(JournalFailure) {
      if isWhole { try start.proof?.checkAll() }
      return try JournalScan(
        of: start.file, durable: next?.durableNumber(of: list[index]) ?? -1, start.proof
      ).part
    } catch {
      if case .notKept = error { return nil }
      throw error
    }
  }

  /// Returns the Unix second of the first state of a closed file, which takes no scan.
  ///
  /// Returns `nil` if that line has none, or if the file was moved away.
  func firstSecond(of index: Int, before newest: JournalPart) throws(JournalFailure) -> Int? {
    try start(of: index, before: newest)?.firstSecond
  }

  /// Returns the file with its header only, or `nil` if it belongs to another journal or was moved away.
  func start(of index: Int, before newest: JournalPart) throws(JournalFailure) -> JournalPart? {
    guard var start = try start(of: list[index]) else { return nil }
    guard let identity = try? identity(of: index, before: newest) else { return start }
    if try start.kinship(identity) == .other { return nil }
    let next = index + 1 == list.count ? newest.header.first : list[index + 1].first
    start.proof = JournalProof(start, identity, next: next)
    return start
  }

  /// Returns the file with its header only, or `nil` if the file was moved away.
  func start(of segment: JournalSegment) throws(JournalFailure) -> JournalPart? {
    let path = path(segment)
    let file: JournalDescriptor
    do throws(JournalFailure) {
      file = try openRegularFile(path, O_RDONLY)
    } catch {
      if error == .file(.ENOENT) { return nil }
      throw error
    }
    let header = try readHeader(of: file, Int(try fileStatus(of: file.number).st_size))
    // A file is closed long after its first line was on the disk.
    guard let header else { throw .damaged(atByte: 0) }
    if header.segment != segment.sequence || header.first != segment.first { return nil }
    return JournalPart(file: file, header: header, length: header.length, number: header.first)
  }
}

extension JournalPart {
  /// The Unix second of the first state, or `nil` if that line has none.
  var firstSecond: Int? {
    firstMembers.first { $0.hasPrefix(secondKey) }.flatMap {
      decimal($0.dropFirst(secondKey.count).utf8)
    }
  }

  /// Returns the number up to which this file proves that the lines of the file before it were on the disk, or -1.
  ///
  /// A compaction synchronizes the old file before it writes a snapshot to the new file. A file begins with a `start` if
  /// lines of the old file may be lost.
  fileprivate func durableNumber(of former: JournalSegment) -> Int {
    let follows = header.segment == former.sequence + 1
    return follows && firstMembers.last?.hasPrefix("\"snapshot\":") == true ? header.first : -1
  }

  /// The members of the first state, up to the beginning of its content.
  private var firstMembers: [String] {
    var bytes: [UInt8] = []
    try? read(file.number, at: header.length + bodyOffset, upTo: 96, appendingTo: &bytes)
    var members: [String] = []
    for word in bytes.split(separator: UInt8(ascii: ",")) {
      members.append(String(decoding: word, as: UTF8.self))
      let isContent = !["\"number\":", secondKey, "\"synced\":", "\"v\":"].contains {
        members[members.count - 1].hasPrefix($0)
      }
      if isContent { break }
    }
    return members
  }
}

private let sequenceDigits = 6
private let secondKey = "\"at\":"
private let fileSuffix = ".journal"
let folderSuffix = ".segments"
