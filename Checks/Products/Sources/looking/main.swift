import Foundation
import MiniRex
import MiniRexInspector
import MiniRexStore

// Serves the inspector's page for a store, and uses every name of the inspector.
let graph = LiveGraph()
let store = Store(0, name: "sum", instrument: graph)
let inspector = try Inspector(of: graph, port: 0, address: "127.0.0.1", token: "secret")
inspector.watch(store, name: "sum", alwaysRecords: true)
store.commit { $0 += 2 }

precondition(inspector.address == "127.0.0.1" && inspector.token == "secret")
precondition(
  inspector.url.absoluteString == "http://127.0.0.1:\(inspector.port)/?token=secret")
precondition(store.subscriberCount == 1)
do {
  _ = try Inspector(of: graph, port: inspector.port)
  preconditionFailure("Two inspectors have the same port.")
} catch {
  precondition(error.code == .EADDRINUSE)
}
print(inspector.url, store.state)
