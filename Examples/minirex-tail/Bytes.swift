import Foundation

extension ArraySlice<UInt8> {
  func firstIndex(of byte: UInt8, from start: Int) -> Int? {
    unsafe withUnsafeBytes { bytes in
      let skipped = start - startIndex
      guard let base = bytes.baseAddress,
        let hit = unsafe memchr(base + skipped, Int32(byte), bytes.count - skipped)
      else { return nil }
      return unsafe startIndex + (UnsafeRawPointer(hit) - base)
    }
  }

  /// True if `text` is somewhere in here; an empty one is everywhere.
  func contains(_ text: [UInt8]) -> Bool {
    guard let first = text.first else { return true }
    var start = startIndex
    while let hit = firstIndex(of: first, from: start), endIndex - hit >= text.count {
      if self[hit..<hit + text.count].elementsEqual(text) { return true }
      start = hit + 1
    }
    return false
  }

  /// How many replacement characters a string has in place of what is not UTF-8 here.
  var replacementCount: Int {
    let isASCII = unsafe withUnsafeBytes { bytes in unsafe bytes.reduce(0, |) < 0x80 }
    if isASCII || String(validating: self, as: UTF8.self) != nil { return 0 }
    var count = 0
    var parser = Unicode.UTF8.ForwardParser()
    var bytes = makeIterator()
    while true {
      switch parser.parseScalar(from: &bytes) {
      case .valid: continue
      case .error: count += 1
      case .emptyInput: return count
      }
    }
  }
}
