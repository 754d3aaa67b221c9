// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation
// The part of SwiftUI that the stores use, for type-checking on Linux.

public struct Binding<Value> {
  public init(
    get: @escaping @isolated(any) @Sendable () -> Value,
    set: @escaping @isolated(any) @Sendable (Value) -> Void
  ) {}
}
