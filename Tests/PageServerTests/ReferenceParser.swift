import Foundation

@testable import MiniRexPageServer

/// The content of a request, for comparison.
struct Fields: Equatable {
  let method: String
  let path: String
  let query: String?
  let headers: [String: String]
  let body: Data
}

extension Request {
  var fields: Fields {
    Fields(method: method, path: path, query: query, headers: headers, body: body)
  }
}

/// Parses a request slowly, independently of `RequestParser`.
func referenceResult(_ bytes: [UInt8], _ limits: Limits) -> Result<Fields, Status>? {
  let head = Array(bytes.prefix(limits.head))
  let error = firstBadByte(head)
  let lines = wholeLines(Array(head[..<(error ?? head.count)]))
  var first: (method: String, path: String, query: String?, needsHost: Bool)?
  var headers: [(String, String)] = []
  for (line, end) in lines {
    guard let text = String(data: Data(line), encoding: .utf8) else { return .failure(.badRequest) }
    if first == nil {
      guard let words = requestLine(text) else { return .failure(.badRequest) }
      first = words
    } else if !text.isEmpty {
      guard let header = header(text) else { return .failure(.badRequest) }
      let isUnique = ["content-length", "host", "origin", "sec-fetch-site"].contains(header.0)
      if isUnique && headers.contains(where: { $0.0 == header.0 }) { return .failure(.badRequest) }
      headers.append(header)
    } else if let first {
      return whole(first, Dictionary(headers) { $1 }, Array(bytes[end...]), limits)
    }
  }
  if error != nil { return .failure(.badRequest) }
  return bytes.count > limits.head ? .failure(.headTooLarge) : nil
}

private func firstBadByte(_ head: [UInt8]) -> Int? {
  head.indices.first { index in
    let (byte, before) = (head[index], index > 0 ? head[index - 1] : 0)
    if index == 0 { return !(65...90).contains(byte) }
    if byte == 10 { return before != 13 }
    return before == 13 || byte < 32 && byte != 9 && byte != 13 || byte == 127
  }
}

private func wholeLines(_ bytes: [UInt8]) -> [([UInt8], end: Int)] {
  var (lines, start): ([([UInt8], end: Int)], Int) = ([], 0)
  for (index, byte) in bytes.enumerated() where byte == 10 {
    lines.append((Array(bytes[start..<index - 1]), index + 1))
    start = index + 1
  }
  return lines
}

private func requestLine(_ text: String) -> (String, String, String?, Bool)? {
  let words = text.components(separatedBy: " ")
  guard words.count == 3, ["HTTP/1.0", "HTTP/1.1"].contains(words[2]), words[0] != "",
    words[0].unicodeScalars.allSatisfy({ "A" <= $0 && $0 <= "Z" }),
    words[1].hasPrefix("/"), !words[1].contains("\t")
  else { return nil }
  var parts = words[1].components(separatedBy: "?")
  guard let path = withoutPercents(parts.removeFirst()) else { return nil }
  return (
    words[0], path, parts.isEmpty ? nil : parts.joined(separator: "?"), words[2] == "HTTP/1.1"
  )
}

/// Foundation's `removingPercentEncoding` accepts some invalid UTF-8.
private func withoutPercents(_ text: String) -> String? {
  var parts = text.components(separatedBy: "%")
  var bytes = Data(parts.removeFirst().utf8)
  for part in parts {
    let digits = String(decoding: part.utf8.prefix(2), as: UTF8.self)
    guard digits.utf8.count == 2, digits.unicodeScalars.allSatisfy(\.properties.isASCIIHexDigit),
      let byte = UInt8(digits, radix: 16)
    else { return nil }
    bytes += [byte] + part.utf8.dropFirst(2)
  }
  return String(data: bytes, encoding: .utf8)
}

private func header(_ text: String) -> (String, String)? {
  var parts = text.components(separatedBy: ":")
  let name = parts.removeFirst()
  let allowed = CharacterSet(
    charactersIn: "!#$%&'*+-.^_`|~0123456789"
      + "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
  guard !parts.isEmpty, name != "", name.unicodeScalars.allSatisfy(allowed.contains) else {
    return nil
  }
  let value = parts.joined(separator: ":")
  return (name.lowercased(), value.trimmingCharacters(in: CharacterSet(charactersIn: " \t")))
}

private func whole(
  _ line: (method: String, path: String, query: String?, needsHost: Bool),
  _ headers: [String: String],
  _ rest: [UInt8], _ limits: Limits
) -> Result<Fields, Status>? {
  let host = headers["host"]?.lowercased()
  guard host != nil || !line.needsHost else { return .failure(.badRequest) }
  if let host {
    guard host.range(of: validHost, options: .regularExpression) != nil else {
      return .failure(.badRequest)
    }
    guard isOfThisMachine(host) else { return .failure(.forbidden) }
  }
  if let site = headers["sec-fetch-site"]?.lowercased(), site != "same-origin", site != "none" {
    return .failure(.forbidden)
  }
  if let origin = headers["origin"]?.lowercased() {
    guard let host, origin == "http://" + host else { return .failure(.forbidden) }
  }
  if headers["transfer-encoding"] != nil { return .failure(.notImplemented) }
  let text = headers["content-length"] ?? "0"
  guard text != "", text.unicodeScalars.allSatisfy({ "0" <= $0 && $0 <= "9" }) else {
    return .failure(.badRequest)
  }
  guard let length = Int(text), length <= limits.body else { return .failure(.bodyTooLarge) }
  if rest.count < length { return nil }
  return .success(
    Fields(
      method: line.method, path: line.path, query: line.query, headers: headers,
      body: Data(rest.prefix(length))))
}

/// RFC 3986, sections 3.2.2 and 3.2.3, in lowercase.
///
/// A string, because a `Regex` leaks memory of its parser.
private let validHost =
  #"\A(\[[0-9a-f:.]+\]|([a-z0-9\-._~!$&'()*+,;=]|%[0-9a-f][0-9a-f])*)(:[0-9]*)?\z"#

private func isOfThisMachine(_ host: String) -> Bool {
  let parts = host.components(separatedBy: ":")
  func isNumber(_ text: String, _ digits: Int) -> Bool {
    (1...digits).contains(text.unicodeScalars.count)
      && text.unicodeScalars.allSatisfy { "0" <= $0 && $0 <= "9" }
  }
  if parts.count > 2 || parts.count == 2 && !isNumber(parts[1], 5) { return false }
  let octets = parts[0].components(separatedBy: ".")
  return parts[0] == "localhost"
    || octets.count == 4 && octets[0] == "127" && octets.allSatisfy { isNumber($0, 3) }
}
