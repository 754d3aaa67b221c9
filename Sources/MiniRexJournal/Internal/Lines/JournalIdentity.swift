/// The bytes by which a file recognizes the closed file that it continues.
///
/// The name of a closed file proves nothing: another journal, or another branch of the journal, has files with the same
/// names. Two branches have the same first state, and can have equally long lines and the same last line. So a checksum
/// covers several lines, which opening reads. The checksums of the parts cover all lines, and a reader compares the parts
/// that it reads.
struct JournalIdentity: Equatable, Sendable {
  /// The relation between a closed file and the file that continues it.
  enum Kinship { case own, other, unclear }

  /// The checksum of the first state, or 0 if that line is lost.
  var first: UInt32
  /// The checksum of up to 4 KiB before the last line that the state of the next file includes, and of its checksum.
  var last: UInt32
  /// The place of that line.
  var place: Int
  /// The number of the commits up to that line, or `nil` if the line of the header does not have it.
  var number: Int?
  /// The checksums of equally large parts up to the checksum of that line, or none if the file was not to be kept.
  var parts: [UInt32] = []

  init(first: UInt32, last: UInt32, place: Int) {
    (self.first, self.last, self.place) = (first, last, place)
  }

  /// The end of the last part.
  var end: Int { place + bodyOffset }

  /// The size of each part but the last.
  ///
  /// It is at least 64 KiB, and doubles until there are at most 128 parts, so that the line has at most 1 KiB of them.
  var partSize: Int {
    var size = blockSize
    while (end - 1) / size >= 128 { size *= 2 }
    return size
  }

  var partCount: Int { (end - 1) / partSize + 1 }

  func range(of part: Int) -> Range<Int> {
    part * partSize..<min((part + 1) * partSize, end)
  }
}
