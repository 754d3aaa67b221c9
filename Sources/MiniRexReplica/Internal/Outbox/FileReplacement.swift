internal import CLibrary
internal import MiniRexJournal

/// Writes a file beside another, and gives it the other's name.
///
/// - Parameter prepare: A closure that receives the descriptor of the complete file before the rename.
func replaceFile(
  _ path: String, with bytes: [UInt8], _ prepare: (Int32) throws(JournalFailure) -> Void
) throws(JournalFailure) -> JournalDescriptor {
  // One name, so that at most one file remains after a kill, and the next write replaces it.
  let new = path + ".new"
  let file = try openRegularFile(new, O_RDWR | O_CREAT | O_TRUNC)
  var done = 0
  try write(bytes, to: file.number, &done)
  try prepare(file.number)
  try check { unsafe rename(new, path) }
  return file
}
