// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation, AlwaysUseLowerCamelCase, TypeNamesShouldBeCapitalized, NoLeadingUnderscores
// The part of the Objective-C runtime that the adapters use, for type-checking on Linux.

public enum objc_AssociationPolicy: Sendable {
  case OBJC_ASSOCIATION_RETAIN
}

@unsafe
public func objc_setAssociatedObject(
  _ object: Any, _ key: UnsafeRawPointer, _ value: Any?, _ policy: objc_AssociationPolicy
) {}
