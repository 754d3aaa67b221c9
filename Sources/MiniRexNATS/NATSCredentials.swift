#if NATS
/// The credentials of a connection.
///
/// The description contains the kind and no secret.
public struct NATSCredentials: Sendable, CustomStringConvertible, CustomReflectable {
  enum Kind: Sendable {
    case none
    case user(String, password: String)
    case token(String)
    case file(String, seed: String?)
    case nkey(String, seedFile: String)
  }

  let kind: Kind

  /// No credentials, except for a user in the URL.
  public static let none = NATSCredentials(kind: .none)

  /// A name and a password.
  public static func user(_ name: String, password: String) -> NATSCredentials {
    NATSCredentials(kind: .user(name, password: password))
  }

  /// A token.
  public static func token(_ token: String) -> NATSCredentials {
    NATSCredentials(kind: .token(token))
  }

  /// A credentials file, which is read for each attempt to connect.
  ///
  /// - Parameters:
  ///   - path: The path of the file with the user's JWT. Without `seed`, it also contains the seed.
  ///   - seed: The path of a separate seed file. The default is `nil`.
  public static func file(_ path: String, seed: String? = nil) -> NATSCredentials {
    NATSCredentials(kind: .file(path, seed: seed))
  }

  /// A public NKey and the path of its seed file.
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

  /// A mirror that shows the kind only.
  public var customMirror: Mirror { Mirror(self, children: ["kind": description]) }
}
#endif
