import Foundation
import MiniRex
import MiniRexFoundationAdapters

/// The comments below a folder, and all its subfolders.
struct Findings: Sendable, Equatable, Codable {
  var comments: [Comment] = []
  var folders: [String] = []
}

extension Outside {
  /// - Parameter journal: A file to skip, because the journal contains the comments.
  init(_ directory: URL, except journal: URL?, clock: some Clock<Duration>) {
    findings = { folders in
      // Editors write a file in several steps, and logs change continuously, so changes within 100 ms
      // cause one search. The folders are followed before the first search.
      merge(folders.map { URL(filePath: $0).changes().map { _ in } } + [.sequence([()])])
        .chunked(every: .milliseconds(100), clock: clock)
        .map { _ in findComments(below: directory, except: journal) }
        .removeDuplicates()
    }
  }
}

private func findComments(below directory: URL, except journal: URL?) -> Findings {
  var findings = Findings(folders: [directory.path])
  let base = directory.path
  let files = FileManager.default.enumerator(
    at: directory, includingPropertiesForKeys: [.isDirectoryKey, .isRegularFileKey],
    options: .skipsHiddenFiles)
  while let file = files?.nextObject() as? URL {
    let kind = try? file.resourceValues(forKeys: [.isDirectoryKey, .isRegularFileKey])
    if kind?.isDirectory == true {
      findings.folders.append(file.path)
      // Reading a pipe would block until a writer opens it.
    } else if kind?.isRegularFile == true, file.path != journal?.path,
      let text = try? String(contentsOf: file, encoding: .utf8)
    {
      findings.comments += comments(in: text, of: String(file.path.dropFirst(base.count + 1)))
    }
  }
  findings.folders.sort()
  findings.comments.sort { ($0.file, $0.line) < ($1.file, $1.line) }
  return findings
}

/// Returns the texts after `TODO` or `FIXME` in comments.
func comments(in text: String, of file: String) -> [Comment] {
  let lines = text.split(omittingEmptySubsequences: false) { $0 == "\n" || $0 == "\r\n" }
  return lines.enumerated().compactMap { number, line in
    guard let match = line.firstMatch(of: /(?:\/\/|#|--|\*)\s*(?:TODO|FIXME)\b:?\s*(.*)/)
    else { return nil }
    let words = match.1.trimmingCharacters(in: .whitespaces)
    return Comment(file: file, line: number + 1, text: words.isEmpty ? "(no text)" : words)
  }
}
