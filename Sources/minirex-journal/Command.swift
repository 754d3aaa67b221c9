import Foundation
import MiniRexJournal

typealias TextJournal = Journal<JournalText, JournalText>

func complain(_ text: String) {
  try? FileHandle.standardError.write(contentsOf: Data("minirex-journal: \(text)\n".utf8))
}

/// A command line.
struct Command {
  /// A command line that the program does not understand.
  struct Usage: Error { var text = "" }

  static let usage = """
    usage: minirex-journal inspect FILE              prints files, numbers, and sizes
           minirex-journal verify FILE               checks each line of each file
           minirex-journal export FILE [--from N] [--to M] [--version 1]
                                                     prints commits as lines of JSON
           minirex-journal tail FILE [-f] [--after N]
                                                     prints the last or further commits
           minirex-journal compact FILE [--keep everything|latest|COUNT]
                                                     begins a new file with the last state
           minirex-journal backup FILE FOLDER        makes a copy, even during a recording
           minirex-journal repair FILE [--yes]       moves the damaged end to FILE.cut
    """

  private static let options = [
    "verify": [], "check": [], "inspect": [], "export": ["--from", "--to", "--version"],
    "tail": ["-f", "--after"], "compact": ["--keep"], "backup": [], "repair": ["--yes"],
  ]

  let name: String
  let file: URL
  let folder: URL?
  private var values: [String: String] = [:]

  init(_ words: [String]) throws {
    var words = words[...]
    guard let name = words.popFirst(), let known = Self.options[name] else { throw Usage() }
    var paths: [String] = []
    while let word = words.popFirst() {
      if !word.hasPrefix("-") {
        paths.append(word)
      } else if !known.contains(word) {
        throw Usage(text: "'\(name)' has no option \(word).")
      } else if ["-f", "--yes"].contains(word) {
        values[word] = ""
      } else if let value = words.popFirst() {
        values[word] = value
      } else {
        throw Usage(text: "\(word) requires a value.")
      }
    }
    if paths.count != (name == "backup" ? 2 : 1) { throw Usage() }
    self.name = name
    file = URL(filePath: paths[0])
    folder = paths.count == 2 ? URL(filePath: paths[1]) : nil
  }

  private func number(_ option: String) throws -> Int? {
    guard let text = values[option] else { return nil }
    guard let number = Int(text), number < .max else {
      throw Usage(text: "\(option) requires a number.")
    }
    return number
  }

  func run() async throws {
    switch name {
    case "inspect": try inspect(file)
    case "verify", "check": try verify(file)
    case "export":
      let version = try number("--version")
      if let version, version != 1 { throw Usage(text: "--version requires 1.") }
      if version == 1, values["--from"] != nil || values["--to"] != nil {
        throw Usage(text: "--version exports all commits.")
      }
      if version == 1 {
        try exportVersionOne(file)
      } else {
        try export(file, try number("--from") ?? 0, try number("--to") ?? .max)
      }
    case "tail":
      try await tail(file, after: try number("--after"), follows: values["-f"] != nil)
    case "compact": try await compact()
    case "backup":
      guard let folder else { throw Usage() }
      try JournalReader<JournalText, JournalText>(file, upcasting: .keepingVersions)
        .backup(to: folder)
    default: try repair(file, asks: values["--yes"] == nil)
    }
  }

  private func compact() async throws {
    let history: JournalHistory
    switch values["--keep"] ?? "everything" {
    case "everything": history = .everything
    case "latest": history = .latestState
    case let text:
      guard let count = Int(text), count > 0 else {
        throw Usage(text: "--keep requires everything, latest, or a count.")
      }
      history = .last(commits: count)
    }
    // Opening a missing file would create it.
    let former = try JournalInspector(file).segment
    let journal = try TextJournal(file, keeping: history, upcasting: .keepingVersions)
    try await journal.compact()
    if try JournalInspector(file).segment == former {
      print(
        "Nothing was compacted. The only state of the file is in its first line, so a new file would be the same. "
          + "A recording compacts with the newest state.")
    }
  }
}
