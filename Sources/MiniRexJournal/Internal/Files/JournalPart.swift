/// The complete lines of one file.
struct JournalPart: Sendable {
  let file: JournalDescriptor
  var header: JournalHeader
  /// The length of the complete lines.
  var length = 0
  /// The number of the last complete line.
  var number = 0
  /// The number up to which the next file proves that the lines were on the disk, or -1.
  var durable = -1
  /// Compares the file with the next file, if this is a closed file.
  var proof: JournalProof?

  /// The place after the header, or 0 for a file without complete lines.
  var firstLine: Int { min(header.length, length) }

  /// The place of the next line.
  var endOfLines: Int { length == 0 ? header.length : length }

  func lines(from offset: Int, to end: Int? = nil) -> JournalLines {
    JournalLines(of: file, proof, from: offset, to: end ?? length)
  }

  func linesBackwards(before end: Int) -> JournalLinesBackwards {
    JournalLinesBackwards(of: file, proof, before: end)
  }
}
