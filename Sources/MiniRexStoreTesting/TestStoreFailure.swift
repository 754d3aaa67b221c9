/// What has happened to a ``TestStore`` that the test does not say.
///
/// Thrown in a test, it fails the test, and its description says what differs, what runs, and where.
public struct TestStoreFailure: Error, Equatable, CustomStringConvertible {
  /// What is wrong, in a few lines.
  public let description: String
}
