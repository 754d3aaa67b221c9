public import Foundation

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

/// The failure of a transfer.
public enum TransferFailure: Error {
  /// The response was incomplete: unknown host, refused or lost connection, or a URL that cannot be
  /// loaded.
  case url(URLError)

  /// The server responded with a status outside 200–299.
  ///
  /// The body has at most 65,536 bytes of the response.
  case status(HTTPURLResponse, body: Data)

  /// The file could not be read or written.
  case file(POSIXError)
}
