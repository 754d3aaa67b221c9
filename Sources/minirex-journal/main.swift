import Foundation
import MiniRexJournal

// Looks at a journal, and works on it, without the program's types.

do {
  let command = try Command(Array(CommandLine.arguments.dropFirst()))
  try await command.run()
} catch let error as Command.Usage {
  complain(error.text.isEmpty ? Command.usage : "\(error.text)\n\(Command.usage)")
  exit(64)
} catch let error as JournalInspector.Failure {
  complain("\(error.file): \(error.failure)")
  exit(1)
} catch {
  complain("\(error)")
  exit(1)
}
