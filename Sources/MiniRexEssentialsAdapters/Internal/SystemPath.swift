internal import CLibrary

#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

extension URL {
  /// The path for a system call, with its final zero.
  ///
  /// A name need not be UTF-8, and `path` is empty for such a name. A zero byte in a path would hide
  /// the rest of it from the system, so it is an error like a URL that names no file.
  package var systemPath: [CChar] {
    get throws(POSIXError) {
      var path = isFileURL ? absoluteURL.path(percentEncoded: true).withoutPercents : []
      while path.count > 1, path.last == UInt8(ascii: "/") { path.removeLast() }
      if path.isEmpty || path.contains(0) { throw POSIXError(.EINVAL, path: absoluteString) }
      return (path + [0]).map { CChar(truncatingIfNeeded: $0) }
    }
  }
}

extension URL {
  /// The path for people, or the entire URL if it has no path that is text.
  package var name: String {
    let path = path(percentEncoded: false)
    return path.isEmpty ? absoluteString : path
  }
}

extension String {
  /// The percent-decoded bytes.
  fileprivate var withoutPercents: [UInt8] {
    var decoded: [UInt8] = []
    var rest = utf8[...]
    while let byte = rest.popFirst() {
      let digits = rest.prefix(2)
      if byte == UInt8(ascii: "%"), digits.count == 2,
        let number = UInt8(Substring(digits), radix: 16)
      {
        decoded.append(number)
        rest = rest.dropFirst(2)
      } else {
        decoded.append(byte)
      }
    }
    return decoded
  }
}
