public import Foundation

#if canImport(FoundationNetworking)
  public import FoundationNetworking
#endif

/// Why a transfer has failed.
public enum TransferFailure: Error {
  /// There was no complete answer: no such host, a connection refused or cut off, a URL that cannot
  /// be loaded.
  case url(URLError)

  /// The server has answered with a status outside 200–299. The body is what it said, up to its
  /// first 65,536 bytes.
  case status(HTTPURLResponse, body: Data)

  /// The file could not be read or written.
  case file(POSIXError)
}
