/// Formats lines before the first line of a recording is written.
struct LineCollector {
  var line = JournalLineWriter()
  var marks = JournalMarks()
  /// The difference between the number of a line and the store's number.
  var offset = 0
  /// A Boolean value that indicates whether the delivering thread writes to the file.
  var isOver = false
  var hasFailed = false
}

/// The lines that follow the first line of a recording, in memory.
struct EarlyLines: Sendable {
  private(set) var lines = JournalLineWriter()
  /// The number of the last commit, as the store counts.
  private(set) var number = 0
  private(set) var marks: JournalMarks
  /// The number of bytes for whose write the delivering thread can wait.
  private var limit = 64 << 10
  /// The number of bytes that were taken last.
  private var former = Int.max

  init(marks: JournalMarks) { self.marks = marks }

  mutating func add(_ line: JournalLineWriter, upTo number: Int, _ marks: JournalMarks) {
    lines.append(line)
    self.number = number
    self.marks = marks
  }

  /// Takes all lines, if they are too many for the write for which the delivering thread waits.
  ///
  /// More are few enough if the last write did not halve them. Otherwise, `record` would not return while a slow disk takes
  /// lines more slowly than threads send them.
  mutating func takeMany() -> EarlyLines? {
    let count = lines.bytes.count
    if count > limit, count > former / 2 { limit *= 4 }
    if count <= limit { return nil }
    former = count
    return takeAll()
  }

  mutating func takeAll() -> EarlyLines? {
    if lines.bytes.isEmpty { return nil }
    defer { lines = JournalLineWriter() }
    return self
  }
}
