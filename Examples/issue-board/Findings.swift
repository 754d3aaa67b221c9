import Foundation
import MiniRex
import MiniRexFoundationAdapters

/// The comments in the files below a folder, and the folders in which they may be.
struct Findings: Sendable, Equatable {
  var comments: [Comment] = []
  var folders: [String] = []
}

extension Outside {
  init(_ directory: URL, clock: some Clock<Duration>) {
    find = { findComments(below: directory) }
    changes = { folders in
      // Editors write a file in several steps.
      merge(folders.map { URL(filePath: $0).changes() })
        .debounce(for: .milliseconds(100), clock: clock)
        .map { _ in }
    }
  }
}

private func findComments(below directory: URL) -> Findings {
  var findings = Findings(folders: [directory.path])
  let base = directory.path
  let files = FileManager.default.enumerator(
    at: directory, includingPropertiesForKeys: [.isDirectoryKey], options: .skipsHiddenFiles)
  while let file = files?.nextObject() as? URL {
    if (try? file.resourceValues(forKeys: [.isDirectoryKey]))?.isDirectory == true {
      findings.folders.append(file.path)
    } else if let text = try? String(contentsOf: file, encoding: .utf8) {
      findings.comments += comments(in: text, of: String(file.path.dropFirst(base.count + 1)))
    }
  }
  findings.folders.sort()
  findings.comments.sort { ($0.file, $0.line) < ($1.file, $1.line) }
  return findings
}

/// What follows `TODO` or `FIXME` in a comment.
func comments(in text: String, of file: String) -> [Comment] {
  text.split(separator: "\n", omittingEmptySubsequences: false).enumerated().compactMap {
    number, line in
    guard let match = line.firstMatch(of: /(?:\/\/|#|--|\*)\s*(?:TODO|FIXME)\b:?\s*(.*)/)
    else { return nil }
    let words = match.1.trimmingCharacters(in: .whitespaces)
    return Comment(file: file, line: number + 1, text: words.isEmpty ? "(no words)" : words)
  }
}
