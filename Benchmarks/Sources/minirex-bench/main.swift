import Foundation

do {
  let options = try Options(Array(CommandLine.arguments.dropFirst()))
  exit(run(options) ? 0 : 1)
} catch {
  complain(error.message)
  exit(2)
}
