/// What lets a connection in; its description tells the kind only.
public struct NATSCredentials: Sendable, CustomStringConvertible, CustomReflectable {
  enum Kind: Sendable {
    case none
    case user(String, password: String)
    case token(String)
    case file(String, seed: String?)
    case nkey(String, seedFile: String)
  }

  let kind: Kind

  /// Nothing, or what stands in the URL.
  public static let none = NATSCredentials(kind: .none)

  /// A name and a password.
  public static func user(_ name: String, password: String) -> NATSCredentials {
    NATSCredentials(kind: .user(name, password: password))
  }

  /// A token.
  public static func token(_ token: String) -> NATSCredentials {
    NATSCredentials(kind: .token(token))
  }

  /// A credentials file, which is read again at each attempt to connect.
  ///
  /// - Parameters:
  ///   - path: The file of the token of the user (JWT), and of the seed too, if that has none of
  ///     its own.
  ///   - seed: The file of the seed.
  public static func file(_ path: String, seed: String? = nil) -> NATSCredentials {
    NATSCredentials(kind: .file(path, seed: seed))
  }

  /// An NKey: its public half, and the file of its seed.
  public static func nkey(_ publicKey: String, seedFile: String) -> NATSCredentials {
    NATSCredentials(kind: .nkey(publicKey, seedFile: seedFile))
  }

  /// The kind of credentials.
  public var description: String {
    switch kind {
    case .none: "none"
    case .user: "a user and a password"
    case .token: "a token"
    case .file: "a credentials file"
    case .nkey: "an NKey"
    }
  }

  /// Nothing but the kind.
  public var customMirror: Mirror { Mirror(self, children: ["kind": description]) }
}
