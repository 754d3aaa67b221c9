import Foundation
import MiniRexNetworkingAdapters

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension Result where Failure == TransferFailure {
  var refusal: (HTTPURLResponse, body: Data)? {
    if case .failure(.status(let response, let body)) = self { (response, body) } else { nil }
  }

  var urlError: URLError? {
    if case .failure(.url(let error)) = self { error } else { nil }
  }

  var fileError: POSIXError? {
    if case .failure(.file(let error)) = self { error } else { nil }
  }
}
