internal import CLibrary

extension JournalFile {
  /// Moves the closed files of another journal or branch to a separate folder.
  ///
  /// They remain when the newest file was moved away, or an older copy of it was restored. Another program may want
  /// them, so they are not deleted. The folder is on the disk before a file loses its old name.
  func setAside(_ end: inout End) throws(JournalFailure) {
    if end.isOnlyBranch { return }
    let segments = end.segments
    // A compaction that failed after its link may have given the newest file the name of a closed file.
    let others = try segments.others().filter { !isLinked($0, end) }
    if !others.isEmpty {
      let folder = try makeBranch(in: segments.folder, end.part.file)
      for segment in others {
        try check { unsafe link(segments.path(segment), "\(folder)/\(segment.name)") }
      }
      try synchronizeFolder(folder)
      try synchronizeFolder(segments.folder)
      for segment in others { try check { unsafe unlink(segments.path(segment)) } }
      try synchronizeFolder(segments.folder)
    }
    end.isOnlyBranch = true
  }

  func isLinked(_ segment: JournalSegment, _ end: End) -> Bool {
    (try? isNamed(end.segments.path(segment), end.part.file.number)) == true
  }

  /// Creates the first folder of `branch-1`, `branch-2`, … that does not exist.
  private func makeBranch(in folder: String, _ file: JournalDescriptor) throws(JournalFailure)
    -> String
  {
    var number = 1
    while true {
      let branch = "\(folder)/branch-\(number)"
      if try makeFolder(branch, beside: file) { return branch }
      number += 1
    }
  }
}

/// Throws unless the closed files are on the disk of the newest file, so that one can become the other.
func requireSameDisk(_ file: Int32, _ path: String, _ folder: String) throws(JournalFailure) {
  guard let segments = try? openFolder(folder) else { return }
  // The device of the parent folder, because some layered file systems hide the device of a file.
  var parent = stat()
  try check { unsafe stat(parentFolder(of: path), &parent) }
  let disks = (parent.st_dev, try fileStatus(of: segments.number).st_dev)
  // No file can be linked to a mounted folder, even of the same disk.
  let mounts = (mount(of: file), mount(of: segments.number))
  if disks.0 != disks.1 || mounts.0 != mounts.1 { throw .otherDisk(folder: folder) }
}

/// Returns the ID of the mount on which a file was opened, or `nil` on a system without mount IDs.
private func mount(of descriptor: Int32) -> Int? {
  guard
    let file = try? JournalDescriptor(
      check { unsafe open("/proc/self/fdinfo/\(descriptor)", O_RDONLY | O_CLOEXEC) })
  else { return nil }
  var bytes: [UInt8] = []
  try? read(file.number, at: 0, upTo: 1_024, appendingTo: &bytes)
  let line = bytes.split(separator: newline).first { $0.starts(with: "mnt_id:".utf8) }
  return line.flatMap { line in
    Int(String(decoding: line.dropFirst(7).drop { $0 == 9 || $0 == 32 }, as: UTF8.self))
  }
}
