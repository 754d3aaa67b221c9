/// How a connection is made safe.
public struct NATSTLS: Sendable {
  /// The file of the certificates that are trusted; `nil` for those of the system.
  public var trustedCertificates: String?

  /// The file of this side's own certificate, if the server asks for one.
  public var certificate: String?

  /// The file of the key to it.
  public var key: String?

  /// The name that the server's certificate has to have; `nil` for that of the URL.
  public var expectedHostname: String?

  /// Makes it of the files that are needed.
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
