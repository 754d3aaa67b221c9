internal import CLibrary

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// A copy of a journal's files.
///
/// It keeps the newest file open, so that a compaction does not change what is copied. The copy gets its name at the end.
struct JournalBackup {
  private let files: JournalFiles
  private let name: String

  init(of files: JournalFiles, named path: String) {
    self.files = files
    name = URL(filePath: path).lastPathComponent
  }

  func write(to folder: URL) throws(JournalFailure) {
    let folder = try filePath(folder)
    if try makeFolder(folder) { try synchronizeFolder(of: folder) }
    let path = "\(folder)/\(name)"
    if unsafe access(path, F_OK) == 0 { throw .file(.EEXIST) }
    try writeSegments(to: path + folderSuffix)
    let next = path + nextSuffix
    unsafe unlink(next)
    try Self.copy(files.newest.file, to: files.newest.length, at: next)
    try check { unsafe rename(next, path) }
    try synchronizeFolder(folder)
  }

  private func writeSegments(to folder: String) throws(JournalFailure) {
    if files.segments.list.isEmpty { return }
    if try makeFolder(folder), let source = try? openFolder(files.segments.folder) {
      try JournalAttributes(of: source).applyIfPermitted(to: openFolder(folder))
    }
    try requireNoOther(in: folder)
    for (index, segment) in files.segments.list.enumerated() {
      guard let file = try open(index) else { continue }
      let (source, target) = (files.segments.path(segment), "\(folder)/\(segment.name)")
      if unsafe link(source, target) == 0 { continue }
      unsafe unlink(target)
      try Self.copy(file, to: Int(try fileStatus(of: file.number).st_size), at: target)
    }
    try synchronizeFolder(folder)
  }

  /// Opens a closed file, even if it is damaged.
  ///
  /// Returns `nil` for a file of another journal, and for a file that a policy has deleted.
  private func open(_ index: Int) throws(JournalFailure) -> JournalDescriptor? {
    let segments = files.segments
    do throws(JournalFailure) {
      return try segments.start(of: index, before: files.newest)?.file
    } catch {
      guard case .damaged = error else { throw error }
      return try openRegularFile(segments.path(segments.list[index]), O_RDONLY)
    }
  }

  /// Throws `EEXIST` if the folder has a closed file that this backup would replace or adopt.
  ///
  /// After an interrupted backup, the folder has links, or beginnings of copies.
  private func requireNoOther(in folder: String) throws(JournalFailure) {
    for found in try JournalSegments.all(in: folder) {
      guard let own = files.segments.list.firstIndex(where: { $0.name == found.name }),
        let source = try open(own),
        try openRegularFile("\(folder)/\(found.name)", O_RDONLY).isBeginning(of: source)
      else { throw .file(.EEXIST) }
    }
  }

  /// Copies a part of a file to a new file of the same users, and synchronizes it.
  static func copy(_ file: JournalDescriptor, from start: Int = 0, to end: Int, at path: String)
    throws(JournalFailure)
  {
    let copy = try openRegularFile(path, O_WRONLY | O_CREAT | O_EXCL)
    try JournalAttributes(of: file).applyIfPermitted(to: copy)
    var place = start
    while place < end {
      var (block, done) = ([UInt8](), 0)
      try read(file.number, at: place, upTo: min(1 << 20, end - place), appendingTo: &block)
      if block.isEmpty { throw .damaged(atByte: place) }
      try MiniRexJournal.write(block, to: copy.number, &done)
      place += block.count
    }
    try synchronize(copy.number)
  }
}

extension JournalDescriptor {
  /// Returns whether the other file begins with the bytes of this file.
  fileprivate func isBeginning(of other: JournalDescriptor) throws(JournalFailure) -> Bool {
    if try isSame(number, other.number) { return true }
    var place = 0
    while true {
      var (own, its) = ([UInt8](), [UInt8]())
      try read(number, at: place, upTo: 1 << 20, appendingTo: &own)
      try read(other.number, at: place, upTo: own.count, appendingTo: &its)
      if own != its { return false }
      if own.isEmpty { return true }
      place += own.count
    }
  }
}

/// Returns `false` if the folder exists.
@discardableResult
func makeFolder(_ path: String) throws(JournalFailure) -> Bool {
  do throws(JournalFailure) {
    try check { unsafe mkdir(path, 0o777) }
    return true
  } catch {
    if error == .file(.EEXIST) { return false }
    throw error
  }
}
