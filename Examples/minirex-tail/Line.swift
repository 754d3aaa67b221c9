/// One line, or a piece of one, as bytes: a string is made only of what is shown.
struct Line: Sendable {
  /// Longer lines are cut.
  static let longest = 1 << 20

  /// A slice of what was read, without the newline.
  let bytes: ArraySlice<UInt8>
  /// True if the next line goes on where this one stops.
  var isCut = false
}

/// Makes lines of the bytes of one file.
struct LineSplitter {
  /// What came after the last newline.
  private var rest: [UInt8] = []

  mutating func split(_ chunk: ArraySlice<UInt8>, _ emit: (Line) -> Void) {
    var start = chunk.startIndex
    while let newline = chunk.firstIndex(of: UInt8(ascii: "\n"), from: start) {
      if rest.isEmpty {
        emit(Line(bytes: chunk[start..<newline]))
      } else {
        append(chunk[start..<newline], emit)
        emit(Line(bytes: rest[...]))
        rest = []
      }
      start = newline + 1
    }
    append(chunk[start...], emit)
  }

  /// There was no newline at the end.
  mutating func finish(_ emit: (Line) -> Void) {
    if !rest.isEmpty { emit(Line(bytes: rest[...])) }
    rest = []
  }

  private mutating func append(_ bytes: ArraySlice<UInt8>, _ emit: (Line) -> Void) {
    rest += bytes
    while rest.count > Line.longest {
      // Not inside a character of UTF-8, whose bytes after the first all begin with 10.
      let end = (Line.longest - 3...Line.longest).last { rest[$0] & 0xC0 != 0x80 } ?? Line.longest
      emit(Line(bytes: rest[..<end], isCut: true))
      rest.removeFirst(end)
    }
  }
}
