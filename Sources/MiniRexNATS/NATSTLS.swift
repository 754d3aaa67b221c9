#if NATS
/// The TLS configuration of a connection.
public struct NATSTLS: Sendable {
  /// The path of the trusted certificates, or `nil` for the certificates of the system.
  public var trustedCertificates: String?

  /// The path of the client's certificate, if the server requires one.
  public var certificate: String?

  /// The path of the private key of ``certificate``.
  public var key: String?

  /// The required host name in the server's certificate, or `nil` for the host of the URL.
  public var expectedHostname: String?

  /// Creates a configuration from paths.
  public init(
    trustedCertificates: String? = nil, certificate: String? = nil, key: String? = nil,
    expectedHostname: String? = nil
  ) {
    self.trustedCertificates = trustedCertificates
    self.certificate = certificate
    self.key = key
    self.expectedHostname = expectedHostname
  }
}
#endif
