/// Runs the body at once if this is the main actor, else as soon as that is free.
///
/// The thread says nothing on Linux, where the main actor moves from thread to thread.
@usableFromInline
func runOnMain(_ body: @escaping @MainActor @Sendable () -> Void) {
  if #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) {
    Task.immediate { @MainActor in body() }
  } else if ThreadID.isMain {
    MainActor.assumeIsolated(body)
  } else {
    Task { @MainActor in body() }
  }
}
