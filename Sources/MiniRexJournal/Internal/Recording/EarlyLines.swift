#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// Formats lines while another thread writes to the file.
struct LineCollector {
  var line = JournalLineWriter()
  var marks = JournalMarks()
  /// The difference between the number of a line and the store's number.
  var offset = 0
  /// A Boolean value that indicates whether the delivering thread writes to the file.
  var isOver = false
  var hasFailed = false
}

/// A line with a state that is not encoded yet.
struct EarlyState: Sendable {
  let number: Int
  let members: JournalLineWriter.Members
  /// The cause, and the key of the state.
  let key: String
  let encode: @Sendable () throws(JournalFailure) -> Data
}

/// The lines that follow a state that another thread encodes, in memory.
struct EarlyLines: Sendable {
  /// Lines, or the line of a state.
  struct Part: Sendable {
    fileprivate(set) var lines = JournalLineWriter()
    let state: EarlyState?
    /// The number of the last commit, as the store counts.
    fileprivate(set) var number: Int
    fileprivate(set) var marks: JournalMarks
  }

  private(set) var parts: [Part] = []
  /// The number of the last commit that was added, as the store counts.
  private(set) var number = 0
  /// The number of bytes of the formatted lines.
  private(set) var count = 0
  /// The number of bytes for whose write the delivering thread can wait.
  private var limit = 64 << 10
  /// The number of bytes that were taken last.
  private var former = Int.max
  /// The job that writes the lines, or `nil` if `record` does.
  let job: EncodingJob?

  init(job: EncodingJob? = nil) { self.job = job }

  mutating func add(_ line: JournalLineWriter, upTo number: Int, _ marks: JournalMarks) {
    if parts.isEmpty || parts.last?.state != nil {
      parts.append(Part(state: nil, number: number, marks: marks))
    }
    let last = parts.count - 1
    parts[last].lines.append(line)
    (parts[last].number, parts[last].marks) = (number, marks)
    self.number = number
    count += line.bytes.count
  }

  mutating func add(_ state: EarlyState, upTo number: Int, _ marks: JournalMarks) {
    parts.append(Part(state: state, number: number, marks: marks))
    self.number = number
  }

  /// A Boolean value that indicates whether a state must be encoded before the delivering thread can write.
  var hasState: Bool { parts.contains { $0.state != nil } }

  /// Takes all lines, if they are too many for the write for which the delivering thread waits, or contain a state.
  ///
  /// More are few enough if the last write did not halve them. Otherwise, the writes would not end while a slow disk takes
  /// lines more slowly than threads send them.
  mutating func takeMany() -> [Part]? {
    if hasState { return takeAll() }
    if count > limit, count > former / 2 { limit *= 4 }
    if count <= limit { return nil }
    former = count
    return takeAll()
  }

  mutating func takeAll() -> [Part] {
    defer { (parts, count) = ([], 0) }
    return parts
  }
}
