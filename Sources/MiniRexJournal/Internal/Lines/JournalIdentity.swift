/// The bytes by which a file recognizes the closed file that it continues.
///
/// The name of a closed file proves nothing: another journal, or another branch of the journal, has files with the same
/// names. Two branches have the same first state, and can have equally long lines and the same last line. So the
/// checksum covers several lines.
struct JournalIdentity: Equatable, Sendable {
  /// The relation between a closed file and the file that continues it.
  enum Kinship { case own, other, unclear }

  /// The checksum of the first state, or 0 if that line is lost.
  var first: UInt32
  /// The checksum of up to 4 KiB before the last line that the state of the next file includes, and of its checksum.
  var last: UInt32
  /// The place of that line.
  var place: Int
}
