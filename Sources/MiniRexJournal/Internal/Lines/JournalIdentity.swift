/// The lines by which a file recognizes the closed file that it continues.
///
/// The name of a closed file proves nothing: another journal, or another branch of the journal, has files with the same
/// names. Two files with equal checksums at equal places have the same lines.
struct JournalIdentity: Equatable, Sendable {
  /// The relation between a closed file and the file that continues it.
  enum Kinship { case own, other, unclear }

  /// The checksum of the first state.
  var first: UInt32
  /// The checksum of the last line that the state of the next file includes.
  var last: UInt32
  /// The place of that line.
  var place: Int
}
