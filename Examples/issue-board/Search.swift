import Foundation

/// One search of a folder for comments.
///
/// It calls the system directly, because `FileManager` takes several times as long as `grep -r`.
struct Search {
  /// The length that is searched of a longer file.
  private static let limit = 16 << 20

  private let root: String
  /// The file of the journal, its closed files, and its next file.
  private let skipped: [String]
  private let report: (Int) -> Void
  private var found = Findings()
  private var fileCount = 0
  /// The bytes of the current file and a 0, in a buffer for all files.
  private var bytes = [UInt8](repeating: 0, count: 1 << 16)

  /// - Parameters:
  ///   - journal: The path of a journal, whose files are not searched.
  ///   - report: Called with the number of files, for every 64 files.
  init(_ root: String, except journal: String?, report: @escaping (Int) -> Void) {
    self.root = root
    skipped = journal.map { [$0, "\($0).segments", "\($0).next"] } ?? []
    self.report = report
  }

  mutating func findings() -> Findings {
    search(root, "")
    return found
  }

  /// - Parameter prefix: The path relative to the root, with a slash, or an empty string.
  private mutating func search(_ folder: String, _ prefix: String) {
    found.folders.append(folder)
    for (name, isFolder) in entries(of: folder) where !name.hasPrefix(".") {
      let path = "\(folder)/\(name)"
      if skipped.contains(path) { continue }
      if isFolder {
        search(path, "\(prefix)\(name)/")
      } else {
        fileCount += 1
        if fileCount.isMultiple(of: 64) { report(fileCount) }
        let count = read(path)
        found.comments += comments(in: bytes, count: count, of: prefix + name)
      }
    }
  }

  /// Returns the folders and the regular files, sorted by name.
  ///
  /// Reading a pipe would block until a writer opens it, and a link may lead to a parent.
  private func entries(of folder: String) -> [(name: String, isFolder: Bool)] {
    guard let directory = unsafe opendir(folder) else { return [] }
    defer { unsafe closedir(directory) }
    var entries: [(name: String, isFolder: Bool)] = []
    while let entry = unsafe readdir(directory) {
      let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) {
        unsafe $0.withMemoryRebound(to: CChar.self, capacity: 1) { unsafe String(cString: $0) }
      }
      var kind = unsafe Int(entry.pointee.d_type)
      if kind == Int(DT_UNKNOWN) {
        var status = stat()
        guard unsafe lstat("\(folder)/\(name)", &status) == 0 else { continue }
        kind = Int((status.st_mode & S_IFMT) >> 12)
      }
      if kind == Int(DT_DIR) || kind == Int(DT_REG) { entries.append((name, kind == Int(DT_DIR))) }
    }
    return entries.sorted { $0.name < $1.name }
  }

  /// Reads a file into the buffer, and returns its length.
  private mutating func read(_ path: String) -> Int {
    let descriptor = unsafe open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW)
    if descriptor < 0 { return 0 }
    defer { close(descriptor) }
    var count = 0
    while count < Self.limit {
      let more = unsafe bytes.withUnsafeMutableBytes {
        let start = unsafe $0.baseAddress?.advanced(by: count)
        return unsafe Foundation.read(descriptor, start, $0.count - count - 1)
      }
      if more <= 0 { break }
      count += more
      if count == bytes.count - 1 { bytes += [UInt8](repeating: 0, count: bytes.count) }
    }
    bytes[count] = 0
    return count
  }
}

/// Returns the texts after `TODO` or `FIXME` in comments.
func comments(in text: String, of file: String) -> [Comment] {
  comments(in: Array(text.utf8) + [0], count: text.utf8.count, of: file)
}

/// - Parameter count: The number of bytes before a 0.
private func comments(in bytes: [UInt8], count: Int, of file: String) -> [Comment] {
  var found: [Comment] = []
  var (position, line) = (0, 1)
  let words = ["TODO", "FIXME"]
  var starts = words.map { bytes.position(of: $0, from: 0) ?? count }
  // Like grep, skip files that are not text.
  if starts.allSatisfy({ $0 == count }) || bytes.position(of: 0, in: 0..<count) != nil { return [] }
  while let first = starts.indices.min(by: { starts[$0] < starts[$1] }), starts[first] < count {
    let start = starts[first]
    while let newline = bytes.position(of: newline, in: position..<start) {
      (position, line) = (newline + 1, line + 1)
    }
    var end = bytes.position(of: newline, in: start..<count) ?? count
    let rest = bytes[(start + words[first].utf8.count)..<end]
    if bytes[position..<start].endsWithCommentSign, rest.first?.isOfWord != true {
      found.append(Comment(rest, of: file, line))
    } else {
      end = start + 1
    }
    for index in words.indices where starts[index] < end {
      starts[index] = bytes.position(of: words[index], from: end) ?? count
    }
  }
  return found
}

private let newline = UInt8(ascii: "\n")

extension Comment {
  /// Parses the rest of a line after `TODO`: a name in parentheses, a colon, and the text.
  fileprivate init(_ rest: ArraySlice<UInt8>, of file: String, _ line: Int) {
    var text = String(decoding: rest, as: UTF8.self)[...]
    var owner: String?
    if text.first == "(", let end = text.firstIndex(of: ")") {
      owner = String(text[text.index(after: text.startIndex)..<end])
      text = text[text.index(after: end)...]
    }
    if text.first == ":" { text = text.dropFirst() }
    var trimmed = text.trimmingCharacters(in: .whitespacesAndNewlines)
    for sign in ["-->", "*/"] where trimmed.hasSuffix(sign) {
      trimmed = trimmed.dropLast(sign.count).trimmingCharacters(in: .whitespaces)
    }
    let name = owner.flatMap { $0.isEmpty ? nil : $0 }
    self.init(file: file, line: line, text: trimmed.isEmpty ? "(no text)" : trimmed, owner: name)
  }
}

// The system's searches are fast in debug builds also.
extension [UInt8] {
  fileprivate func position(of byte: UInt8, in range: Range<Int>) -> Int? {
    unsafe withUnsafeBytes { bytes in
      guard let base = bytes.baseAddress else { return nil }
      return unsafe memchr(base + range.lowerBound, Int32(byte), range.count).map {
        unsafe UnsafeRawPointer($0) - base
      }
    }
  }

  /// Returns the position of a word before the next 0.
  fileprivate func position(of word: String, from start: Int) -> Int? {
    unsafe withUnsafeBytes { bytes in
      guard let base = unsafe bytes.baseAddress?.assumingMemoryBound(to: CChar.self)
      else { return nil }
      return unsafe strstr(base + start, word).map { unsafe UnsafePointer($0) - base }
    }
  }
}

extension ArraySlice<UInt8> {
  /// A Boolean value that indicates whether a comment sign and blanks end the bytes.
  fileprivate var endsWithCommentSign: Bool {
    let last = reversed().drop { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }.prefix(2)
    guard let sign = last.first else { return false }
    if sign == UInt8(ascii: "#") || sign == UInt8(ascii: "*") { return true }
    return (sign == UInt8(ascii: "/") || sign == UInt8(ascii: "-")) && last.count == 2
      && last.last == sign
  }
}

extension UInt8 {
  fileprivate var isOfWord: Bool {
    let character = Character(UnicodeScalar(self))
    return character.isLetter || character.isNumber || character == "_"
  }
}
