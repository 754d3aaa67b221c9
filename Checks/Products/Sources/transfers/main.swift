import Foundation
import MiniRex
import MiniRexNetworkingAdapters

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

// A transfer to a port without a server. The same import provides `decode`.
if let url = URL(string: "http://127.0.0.1:1/") {
  let task = URLSession.shared.dataTask(for: URLRequest(url: url))
  print(await task.decode([Int].self).result as Any)
}
